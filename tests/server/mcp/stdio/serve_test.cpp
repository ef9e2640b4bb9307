#include "server/mcp/stdio/serve.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>

#include "tests/support/peers.h"

namespace ratchet::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Json call(Json id, const std::string& tool) {
  return legacy(std::move(id), "tools/call", {{"name", tool}});
}

Json cancel(Json id) {
  return {{"jsonrpc", "2.0"},
          {"method", "notifications/cancelled"},
          {"params", {{"requestId", std::move(id)}}}};
}

template <class Condition>
bool within(milliseconds limit, Condition condition) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

TEST_CASE("a slow reading tool delays neither a fast one nor other slow ones", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  for (int id = 0; id < 8; ++id) peer.send(call(id, "wait"));
  peer.send(legacy("fast", "ping"));

  CHECK(peer.receive()["id"] == "fast");
  CHECK(within(seconds(5), [&] { return sample.waiting() == 8; }));

  sample.release();
  for (int id = 0; id < 8; ++id)
    CHECK(peer.receive()["result"]["structuredContent"]["text"] == "waited");
}

TEST_CASE("tools that occupy the device do not delay reading ones", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  // More than run at once (16): the rest waits its turn.
  for (int id = 0; id < 40; ++id) peer.send(call(id, "occupy"));
  peer.send(legacy("echo", "tools/call", {{"name", "echo"}, {"arguments", {{"text", "x"}}}}));

  CHECK(peer.receive()["id"] == "echo");
  CHECK(within(seconds(5), [&] { return sample.waiting() == 16; }));

  sample.release();
  for (int id = 0; id < 40; ++id) CHECK(peer.receive().contains("result"));
}

TEST_CASE("a canceled call stops and is never answered", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send(call("a", "wait"));
  peer.send(call("b", "occupy"));
  REQUIRE(within(seconds(5), [&] { return sample.waiting() == 2; }));
  peer.send(cancel("a"));
  peer.send(cancel("b"));

  CHECK(within(seconds(5), [&] { return sample.canceled() == 2; }));
  peer.send(legacy(1, "ping"));
  CHECK(peer.receive()["id"] == 1);
  CHECK(peer.receive(milliseconds(30)).is_null());
}

TEST_CASE("an id that two requests share cancels neither", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send(call("same", "occupy"));
  peer.send(call("same", "occupy"));
  REQUIRE(within(seconds(5), [&] { return sample.waiting() == 2; }));
  peer.send(cancel("same"));
  peer.send(legacy(1, "ping"));
  CHECK(peer.receive()["id"] == 1);
  sample.release();

  CHECK(peer.receive()["id"] == "same");
  CHECK(peer.receive()["id"] == "same");
  CHECK(sample.canceled() == 0);
}

TEST_CASE("at the end of the input an idle server ends at once", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send(legacy(1, "ping"));
  REQUIRE(peer.receive()["id"] == 1);

  CHECK(peer.finish() < milliseconds(500));
}

TEST_CASE("requests already read are answered after the end of the input", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send(call(1, "occupy"));
  REQUIRE(within(seconds(5), [&] { return sample.waiting() == 1; }));
  std::thread releaser([&] {
    std::this_thread::sleep_for(milliseconds(100));
    sample.release();
  });

  CHECK(peer.finish() < milliseconds(900));
  releaser.join();
  CHECK(peer.receive()["id"] == 1);
}

TEST_CASE("a running call is canceled a second after the end of the input", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send(call(1, "wait"));
  REQUIRE(within(seconds(5), [&] { return sample.waiting() == 1; }));

  const auto spent = peer.finish();
  CHECK(spent >= milliseconds(900));
  CHECK(spent < milliseconds(3000));
  CHECK(within(seconds(5), [&] { return sample.canceled() == 1; }));
}

TEST_CASE("an oversized line is rejected and the next one is served", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send_text(std::string((std::size_t{16} << 20U) + 10, 'x'));
  peer.send(legacy(1, "ping"));

  CHECK(peer.receive()["error"]["code"] == -32600);
  CHECK(peer.receive()["id"] == 1);
}

TEST_CASE("blank lines and carriage returns are ignored", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send_text("");
  peer.send_text(" \r");
  peer.send_text(legacy(1, "ping").dump() + "\r");

  CHECK(peer.receive()["id"] == 1);
}

TEST_CASE("every request of a flood is answered", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  constexpr int kCount = 5000;
  std::thread sender([&] {
    for (int id = 0; id < kCount; ++id)
      peer.send(legacy(id, "tools/call", {{"name", "echo"}, {"arguments", {{"text", "x"}}}}));
  });
  std::vector<bool> seen(kCount);
  for (int i = 0; i < kCount; ++i) {
    const Json message = peer.receive();
    REQUIRE(message.is_object());
    seen.at(message["id"].get<std::size_t>()) = true;
  }
  sender.join();

  CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
}

TEST_CASE("a legacy client with elicitation is asked for confirmation", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send(legacy(
      0, "initialize",
      {{"protocolVersion", "2025-11-25"}, {"capabilities", {{"elicitation", Json::object()}}}}));
  REQUIRE(peer.receive()["id"] == 0);
  peer.send(call(1, "erase"));
  const Json question = peer.receive();
  REQUIRE(question["method"] == "elicitation/create");
  peer.send(Json{{"jsonrpc", "2.0"},
                 {"id", question["id"]},
                 {"result", {{"action", "accept"}, {"content", {{"confirm", true}}}}}});

  CHECK(peer.receive()["result"]["structuredContent"]["text"] == "erased");
}

TEST_CASE("a subscription is acknowledged first, filtered, and ends by cancellation", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send(
      stateless("s", "subscriptions/listen",
                {{"notifications",
                  {{"toolsListChanged", true}, {"resourceSubscriptions", {"run://a/report"}}}}}));
  const Json acknowledged = peer.receive();
  CHECK(acknowledged["method"] == "notifications/subscriptions/acknowledged");
  // The tools of this server never change, so that filter is not acknowledged.
  CHECK(acknowledged["params"]["notifications"] ==
        Json{{"resourceSubscriptions", {"run://a/report"}}});

  sample.server->resource_updated("run://b/report");
  sample.server->resource_updated("run://a/report");
  const Json update = peer.receive();
  CHECK(update["params"]["uri"] == "run://a/report");
  CHECK(update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "s");

  peer.send(cancel("s"));
  peer.send(legacy(1, "ping"));
  CHECK(peer.receive()["id"] == 1);
  sample.server->resource_updated("run://a/report");
  CHECK(peer.receive(milliseconds(30)).is_null());
}

TEST_CASE("a legacy subscription delivers until unsubscribed", "[stdio]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  peer.send(legacy(1, "resources/subscribe", {{"uri", "run://a"}}));
  REQUIRE(peer.receive()["id"] == 1);
  sample.server->resource_updated("run://a");
  CHECK(peer.receive()["params"] == Json{{"uri", "run://a"}});

  peer.send(legacy(2, "resources/unsubscribe", {{"uri", "run://a"}}));
  REQUIRE(peer.receive()["id"] == 2);
  sample.server->resource_updated("run://a");
  CHECK(peer.receive(milliseconds(30)).is_null());
}

}  // namespace
}  // namespace ratchet::test
