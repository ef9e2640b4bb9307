// Concurrent calls: the tool returns only when all its calls have reached a barrier.

#include <barrier>
#include <catch2/catch_test_macros.hpp>
#include <latch>
#include <set>

#include "server/core/long_running.h"
#include "server/mcp/message/protocol.h"
#include "tests/support/peers.h"

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

TEST_CASE("calls that only wait for their jobs leave room for those that work", "[parallel]") {
  std::latch end{1};
  BackgroundCalls jobs;
  mcp::ServerOptions options = sample_options();
  options.tools.push_back(mcp::offered(
      long_running(make_tool<NoArgs, Said>(
                       {.name = "endless", .summary = "Takes long.", .effect = Effect::uses_device},
                       [&end](const NoArgs&, CallContext&) -> Result<Said> {
                         end.wait();
                         return Said{"done"};
                       }),
                   jobs)));
  mcp::Server server(std::move(options));
  StdioPeer peer(server);
  // More than there are threads for work (16).
  for (int id = 0; id < 40; ++id)
    peer.send(legacy(id, "tools/call", {{"name", "endless"}, {"arguments", {{"wait_s", 3600}}}}));

  peer.send(legacy("work", "tools/call", {{"name", "measure"}}));
  CHECK(peer.receive()["id"] == "work");

  end.count_down();
  for (int id = 0; id < 40; ++id) CHECK(peer.receive().contains("result"));
}

TEST_CASE("more calls than can wait are refused by name, and those that wait are answered",
          "[parallel]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  const mcp::ServerOptions defaults;
  const auto taken = defaults.work_threads + defaults.most_queued;
  for (std::size_t id = 0; id < taken + 7; ++id)
    peer.send(legacy(id, "tools/call", {{"name", "occupy"}}));

  for (int i = 0; i < 7; ++i) {
    const Json refused = peer.receive();
    CHECK(refused["error"]["code"] == mcp::code::kBusy);
    CHECK(refused["id"] >= taken);
  }
  sample.release();
  for (std::size_t i = 0; i < taken; ++i) CHECK(peer.receive().contains("result"));
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
