// Concurrent calls: the tool returns only when all its calls have reached a barrier.

#include <barrier>
#include <catch2/catch_test_macros.hpp>
#include <mutex>
#include <set>

#include "tests/server/mcp/peers.h"

namespace ratchet::test {
namespace {

constexpr int kAtOnce = 12;

struct Said {
  std::string text;
  static constexpr void fields(auto&& visit) { visit(required("text", &Said::text, "")); }
};

/// A server with the tool `meet`, which answers once `kAtOnce` calls are running.
struct Meeting {
  std::barrier<> all{kAtOnce};
  mcp::Server server;

  explicit Meeting(Effect effect) : server(options(effect)) {}

  mcp::ServerOptions options(Effect effect) {
    mcp::ServerOptions made = sample_options();
    made.tools.push_back(mcp::offered(
        make_tool<NoArgs, Said>({.name = "meet", .summary = "Waits for others.", .effect = effect},
                                [this](const NoArgs&, CallContext&) -> Result<Said> {
                                  all.arrive_and_wait();
                                  return Said{"met"};
                                })));
    return made;
  }
};

TEST_CASE("calls over stdio run concurrently, both reading and measuring ones", "[parallel]") {
  for (const Effect effect : {Effect::reads, Effect::uses_device}) {
    Meeting meeting(effect);
    StdioPeer peer(meeting.server);
    for (int id = 0; id < kAtOnce; ++id) peer.send(legacy(id, "tools/call", {{"name", "meet"}}));

    std::set<int> answered;
    for (int i = 0; i < kAtOnce; ++i) answered.insert(peer.receive()["id"].get<int>());

    CHECK(answered.size() == kAtOnce);
  }
}

TEST_CASE("calls over HTTP run concurrently", "[parallel]") {
  Meeting meeting(Effect::reads);
  const HttpPeer peer(meeting.server);
  std::atomic<int> met{0};
  std::vector<std::jthread> clients;
  for (int id = 0; id < kAtOnce; ++id)
    clients.emplace_back([&, id] {
      const auto answer = peer.post(legacy(id, "tools/call", {{"name", "meet"}}));
      if (answer.messages().at(0)["result"]["structuredContent"]["text"] == "met") ++met;
    });
  clients.clear();

  CHECK(met == kAtOnce);
}

TEST_CASE("answers arrive in the order in which calls end, not begin", "[parallel]") {
  Meeting meeting(Effect::reads);
  StdioPeer peer(meeting.server);
  // All but one `meet` call wait; quick calls overtake them; the last `meet` releases them.
  for (int id = 1; id < kAtOnce; ++id) peer.send(legacy(id, "tools/call", {{"name", "meet"}}));
  peer.send(legacy("quick", "tools/call", {{"name", "echo"}, {"arguments", {{"text", "x"}}}}));
  CHECK(peer.receive()["id"] == "quick");

  peer.send(legacy(kAtOnce, "tools/call", {{"name", "meet"}}));
  for (int i = 0; i < kAtOnce; ++i) CHECK(peer.receive().contains("result"));
}

}  // namespace
}  // namespace ratchet::test
