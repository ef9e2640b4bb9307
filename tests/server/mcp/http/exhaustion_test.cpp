// Clients that hold connections and send or take as little as they can: others are still served.

#include <sys/resource.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/peers.h"

namespace ratchet::test {
namespace {

using namespace std::chrono_literals;

using Crowd = std::vector<std::unique_ptr<HttpConnection>>;

const std::string kAskHealth = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
const std::string kOpenStream =
    "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
const std::string kPingText = post_text(legacy(1, "ping").dump());

/// Both ends of every connection are in this process.
void allow_descriptors(rlim_t count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= count) return;
  if (limit.rlim_max < count) SKIP("too few file descriptors");
  limit.rlim_cur = count;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Crowd crowd_of(int size, int port, const std::string& said = "") {
  Crowd crowd;
  for (int i = 0; i < size; ++i) {
    crowd.push_back(std::make_unique<HttpConnection>(port));
    crowd.back()->send(said);
  }
  return crowd;
}

/// The status of /healthz on a connection of its own; 0 when it did not answer in time.
int health(const HttpPeer& peer) {
  HttpConnection connection(peer.port());
  connection.send(kAskHealth);
  return connection.receive(5s).status;
}

TEST_CASE("a thousand silent connections keep nobody out, and keep-alive clients stay",
          "[exhaustion]") {
  allow_descriptors(4096);
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  HttpConnection kept(peer.port());
  kept.send(kPingText);
  REQUIRE(kept.receive().status == 200);

  const auto silent = crowd_of(1000, peer.port());

  CHECK(health(peer) == 200);
  CHECK(peer.post(legacy(1, "ping")).status == 200);
  kept.send(kPingText);
  CHECK(kept.receive().status == 200);
}

TEST_CASE("heads and bodies that trickle in keep nobody out", "[exhaustion]") {
  allow_descriptors(4096);
  const std::string head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& said : {head, head + "Content-Type: application/json\r\nContent-Length: " +
                                     std::to_string(1 << 20) + "\r\n\r\n{"}) {
    SampleServer sample;
    const HttpPeer peer(*sample.server);
    const auto slow = crowd_of(700, peer.port(), said);
    std::atomic<bool> over = false;
    const std::jthread trickle([&] {
      while (!over)
        for (const auto& one : slow) one->send(" ");
    });

    CHECK(health(peer) == 200);
    CHECK(peer.post(legacy(1, "ping")).status == 200);
    over = true;
  }
}

TEST_CASE("clients that do not read their answers keep nobody out", "[exhaustion][slow]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.connections = 16});
  const std::string text(3 << 20, 'x');
  const auto call = post_text(
      legacy(1, "tools/call", {{"name", "echo"}, {"arguments", {{"text", text}}}}).dump());

  const auto greedy = crowd_of(24, peer.port(), call);

  // At first they keep the server busy, which it says.
  const auto soon = [](auto ask) {
    int status = 503;
    for (int i = 0; i < 200 && status == 503; ++i) {
      status = ask();
      if (status == 503) std::this_thread::sleep_for(50ms);
    }
    return status;
  };
  CHECK(soon([&] { return health(peer); }) == 200);
  CHECK(soon([&] { return peer.post(legacy(1, "ping")).status; }) == 200);
}

TEST_CASE("a connection on which nothing ever comes is closed long before one that pauses",
          "[exhaustion]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.first_limit = 200ms, .idle_limit = 5s});
  HttpConnection kept(peer.port());
  kept.send(kPingText);
  REQUIRE(kept.receive().status == 200);
  HttpConnection silent(peer.port());

  std::this_thread::sleep_for(600ms);

  silent.send(kPingText);
  CHECK(silent.receive(1s).status == 0);
  kept.send(kPingText);
  CHECK(kept.receive().status == 200);
  // The defaults: clients pause for 30 s between two calls.
  CHECK(mcp::HttpOptions{}.first_limit <= 10s);
  CHECK(mcp::HttpOptions{}.idle_limit > 30s);
}

TEST_CASE("a quiet event stream and a slow, steady upload outlast a crowd", "[exhaustion][slow]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server,
                      {.connections = 24, .keep_alive = 1s, .request_limit = 500ms});
  HttpConnection stream(peer.port());
  stream.send(kOpenStream);
  REQUIRE(stream.receive_until("\r\n\r\n").size() > 0);
  const std::string body = legacy(1, "ping").dump() + std::string(32 << 10, ' ');
  const std::string upload = post_text(body);
  HttpConnection steady(peer.port());
  steady.send(upload.substr(0, 2048));
  std::this_thread::sleep_for(100ms);
  std::atomic<bool> over = false;
  const std::jthread others([&] {
    while (!over) {
      const auto crowd = crowd_of(48, peer.port(), "POST /mcp HTTP/1.1\r\n");
      std::this_thread::sleep_for(20ms);
    }
  });

  // About 4 KiB a second, for longer than a body without progress may take.
  for (std::size_t at = 2048; at < upload.size(); at += 2048) {
    steady.send(upload.substr(at, 2048));
    std::this_thread::sleep_for(100ms);
  }
  CHECK(steady.receive().status == 200);
  CHECK(stream.receive_until(": still here", 3s).ends_with(": still here"));
  over = true;
}

TEST_CASE("one address cannot take all connections", "[exhaustion]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.connections = 32, .connections_per_peer = 8});
  const auto streams = crowd_of(8, peer.port(), kOpenStream);
  for (const auto& stream : streams) REQUIRE(stream->receive_until("\r\n\r\n").size() > 0);

  HttpConnection same(peer.port());
  same.send(kPingText);
  CHECK(same.receive().status == 503);
  HttpConnection other(peer.port(), "127.0.0.2");
  other.send(kPingText);
  CHECK(other.receive().status == 200);
}

TEST_CASE("while all connections are at work, the next call is told so, and /healthz answers",
          "[exhaustion]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.connections = 32, .connections_per_peer = 32});
  const auto streams = crowd_of(24, peer.port(), kOpenStream);
  for (const auto& stream : streams) REQUIRE(stream->receive_until("\r\n\r\n").size() > 0);

  const auto refused = peer.post(legacy(1, "ping"));
  CHECK(refused.status == 503);
  CHECK(refused.body.find("nothing was done") != std::string::npos);
  CHECK(health(peer) == 200);
}

}  // namespace
}  // namespace ratchet::test
