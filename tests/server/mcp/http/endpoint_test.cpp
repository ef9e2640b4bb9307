#include "server/mcp/http/serve.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <thread>

#include "tests/support/peers.h"

namespace ratchet::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

const Json kPing = legacy(1, "ping");

Json listen() {
  return stateless("l", "subscriptions/listen",
                   {{"notifications", {{"resourceSubscriptions", {"run://a"}}}}});
}

template <class Condition>
bool within(milliseconds limit, Condition condition) {
  const auto until = steady_clock::now() + limit;
  while (!condition()) {
    if (steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

TEST_CASE("a single request without a handshake calls a tool", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const auto answer =
      peer.post(legacy(1, "tools/call", {{"name", "echo"}, {"arguments", {{"text", "x"}}}}));

  CHECK(answer.status == 200);
  CHECK(answer.headers.at("content-type") == "application/json");
  CHECK_FALSE(answer.headers.contains("mcp-session-id"));
  CHECK(answer.messages().at(0)["result"]["structuredContent"]["text"] == "x");
}

TEST_CASE("a notification is accepted without a body", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const auto answer = peer.post({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});

  CHECK(answer.status == 202);
  CHECK(answer.body.empty());
}

TEST_CASE("stateless errors have the status that the specification requires", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const Json discover = stateless(1, "server/discover");

  CHECK(peer.post(discover).status == 200);
  CHECK(peer.post(stateless(1, "no/such")).status == 404);
  CHECK(peer.post(legacy(1, "no/such")).status == 200);
  CHECK(peer.post(discover, {{"MCP-Protocol-Version", ""}}).messages().at(0)["error"]["code"] ==
        -32020);
  CHECK(peer.post(discover, {{"MCP-Protocol-Version", "2025-11-25"}}).status == 400);
  CHECK(peer.post(discover, {{"Mcp-Method", ""}}).messages().at(0)["error"]["code"] == -32020);
  CHECK(peer.post(discover, {{"Mcp-Method", "tools/list"}}).status == 400);
  CHECK(peer.post(kPing, {{"MCP-Protocol-Version", "2031-01-01"}})
            .messages()
            .at(0)["error"]["code"] == -32022);
}

TEST_CASE("foreign Hosts and Origins are forbidden, loopback ones are allowed", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);

  CHECK(peer.post(kPing, {{"Host", "evil.example"}}).status == 403);
  CHECK(peer.post(kPing, {{"Host", "127.0.0.1.evil.example"}}).status == 403);
  CHECK(peer.post(kPing, {{"Origin", "http://evil.example"}}).status == 403);
  CHECK(peer.post(kPing, {{"Origin", "null"}}).status == 403);
  CHECK(peer.post(kPing, {{"Host", "localhost:99"}, {"Origin", "http://localhost:5173"}}).status ==
        200);
  CHECK(peer.post(kPing, {{"Host", "[::1]:8383"}, {"Origin", "https://[::1]"}}).status == 200);
}

TEST_CASE("the token is required everywhere except at the health check", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.token = "0123456789abcdef"});

  const auto refused = peer.post(kPing);
  CHECK(refused.status == 401);
  CHECK(refused.headers.at("www-authenticate") == "Bearer");
  CHECK(peer.post(kPing, {{"Authorization", "Bearer 0123456789abcdeF"}}).status == 401);
  CHECK(peer.post(kPing, {{"Authorization", "0123456789abcdef"}}).status == 401);
  CHECK(peer.post(kPing, {{"Authorization", "Bearer 0123456789abcdef"}}).status == 200);
  CHECK(peer.exchange("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 401);
  CHECK(peer.exchange("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200);
}

TEST_CASE("an address beyond loopback is not served without a token", "[http]") {
  SampleServer sample;
  const auto served = sample.server->serve_http({.host = "0.0.0.0", .port = 0}, {});

  REQUIRE_FALSE(served);
  CHECK(served.error().code == ErrorCode::not_permitted);
}

TEST_CASE("a port in use is an error", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const auto served = sample.server->serve_http({.port = peer.port(), .no_auth = true}, {});

  REQUIRE_FALSE(served);
  CHECK(served.error().code == ErrorCode::unavailable);
}

TEST_CASE("only JSON bodies and known methods are accepted", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);

  CHECK(peer.post(kPing, {{"Content-Type", "text/plain"}}).status == 415);
  CHECK(peer.post(kPing, {{"Content-Type", "application/json; charset=utf-8"}}).status == 200);
  CHECK(peer.exchange("PUT /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 405);
  CHECK(peer.exchange("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 405);
  CHECK(peer.exchange("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n").status == 406);
  CHECK(peer.exchange("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                      "MCP-Protocol-Version: 2026-07-28\r\n\r\n")
            .status == 405);
}

TEST_CASE("a client that accepts events receives progress as events", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const Json call =
      legacy(1, "tools/call", {{"name", "measure"}, {"_meta", {{"progressToken", 0}}}});

  const auto streamed = peer.post(call);
  CHECK(streamed.headers.at("content-type") == "text/event-stream");
  CHECK(streamed.messages().size() == 4);
  CHECK(streamed.messages().back()["id"] == 1);

  const auto plain = peer.post(call, {{"Accept", "application/json"}});
  CHECK(plain.headers.at("content-type") == "application/json");
  CHECK(plain.messages().size() == 1);
}

TEST_CASE("closing the stream cancels a stateless call but not a legacy one", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.json_wait = milliseconds(10)});
  const bool is_stateless = GENERATE(true, false);
  const Json params{{"name", "occupy"}};
  {
    HttpConnection connection(peer.port());
    connection.send(post_text(
        (is_stateless ? stateless(1, "tools/call", params) : legacy(1, "tools/call", params))
            .dump()));
    CHECK(connection.receive_until("\r\n\r\n").find("text/event-stream") != std::string::npos);
    REQUIRE(sample.waiting() == 1);
  }
  CHECK(within(milliseconds(is_stateless ? 5000 : 600), [&] { return sample.canceled() == 1; }) ==
        is_stateless);
}

TEST_CASE("without sessions, a cancellation applies only if its id is unique", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const int clients = GENERATE(1, 2);
  const Json cancel{
      {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 5}}}};
  std::vector<std::unique_ptr<HttpConnection>> connections;
  for (int i = 0; i < clients; ++i) {
    connections.push_back(std::make_unique<HttpConnection>(peer.port()));
    connections.back()->send(post_text(legacy(5, "tools/call", {{"name", "occupy"}}).dump()));
  }
  REQUIRE(within(seconds(5), [&] { return sample.waiting() == clients; }));
  CHECK(peer.post(cancel).status == 202);
  CHECK(within(milliseconds(200), [&] { return sample.canceled() == 1; }) == (clients == 1));
}

TEST_CASE("a session is required, known until it ends, and unknown afterwards", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.sessions = true});
  const auto opened = peer.post(legacy(0, "initialize", {{"protocolVersion", "2025-11-25"}}));
  const HeaderList mine{{"Mcp-Session-Id", opened.headers.at("mcp-session-id")}};

  CHECK(peer.post(kPing).status == 400);
  CHECK(peer.post(kPing, {{"Mcp-Session-Id", "other"}}).status == 404);
  CHECK(peer.post(kPing, mine).status == 200);
  CHECK(peer.post(stateless(1, "server/discover")).status == 200);
  const auto end =
      "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: " + mine.at("Mcp-Session-Id") +
      "\r\n\r\n";
  CHECK(peer.exchange(end).status == 200);
  CHECK(peer.exchange(end).status == 404);
  CHECK(peer.post(kPing, mine).status == 404);
}

TEST_CASE("a GET stream carries what a legacy client subscribed to", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  HttpConnection stream(peer.port());
  stream.send("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
  CHECK(stream.receive_until("\r\n\r\n").find("200 OK") != std::string::npos);
  CHECK(peer.post(legacy(1, "resources/subscribe", {{"uri", "run://a"}})).status == 200);
  sample.server->resource_updated("run://a");

  CHECK(stream.receive_until("run://a").find("notifications/resources/updated") !=
        std::string::npos);
}

TEST_CASE("a listen stream is acknowledged, delivers, and ends with a result", "[http]") {
  SampleServer sample;
  HttpConnection stream = [&] {
    const HttpPeer peer(*sample.server);
    HttpConnection open(peer.port());
    open.send(post_text(listen().dump()));
    CHECK(open.receive_until("acknowledged").find("X-Accel-Buffering: no") != std::string::npos);
    sample.server->resource_updated("run://a");
    CHECK(open.receive_until("run://a\"}").find("resources/updated") != std::string::npos);
    return open;
  }();  // the server has stopped

  CHECK(stream.receive_until("\"resultType\":\"complete\"").find("\"id\":\"l\"") !=
        std::string::npos);
}

TEST_CASE("streams beyond the limit get 503 with Retry-After; calls still work", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.streams = 1});
  HttpConnection first(peer.port());
  first.send(post_text(listen().dump()));
  REQUIRE(!first.receive_until("acknowledged").empty());

  const auto refused = peer.post(listen());
  CHECK(refused.status == 503);
  CHECK(refused.headers.at("retry-after") == "5");
  CHECK(peer.post(kPing).status == 200);
}

TEST_CASE("64 idle streams do not slow a call", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  std::vector<std::unique_ptr<HttpConnection>> streams;
  for (int i = 0; i < 64; ++i) {
    streams.push_back(std::make_unique<HttpConnection>(peer.port()));
    streams.back()->send(post_text(listen().dump()));
    REQUIRE(!streams.back()->receive_until("acknowledged").empty());
  }
  HttpConnection caller(peer.port());
  const auto start = steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    caller.send(post_text(kPing.dump()));
    REQUIRE(caller.receive().status == 200);
  }
  // A starved pool would answer after the keep-alive limit, many seconds later.
  CHECK(steady_clock::now() - start < seconds(2));
}

TEST_CASE("health and metrics are served", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  peer.post(legacy(1, "tools/call", {{"name", "echo"}, {"arguments", {{"text", "x"}}}}));
  peer.post(legacy(1, "tools/call", {{"name", "echo"}}));

  const auto health = peer.exchange("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(health.messages().at(0)["version"] == "7");
  const auto metrics = peer.exchange("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").body;
  CHECK(metrics.find("ratchet_tool_calls_total{tool=\"echo\"} 2\n") != std::string::npos);
  CHECK(metrics.find("ratchet_tool_errors_total{tool=\"echo\"} 1\n") != std::string::npos);
}

TEST_CASE("the server stops while connections are open", "[http]") {
  SampleServer sample;
  auto peer = std::make_unique<HttpPeer>(*sample.server);
  HttpConnection idle(peer->port());
  idle.send(post_text(kPing.dump()));
  REQUIRE(idle.receive().status == 200);
  const auto start = steady_clock::now();
  peer.reset();

  CHECK(steady_clock::now() - start < seconds(3));
}

}  // namespace
}  // namespace ratchet::test
