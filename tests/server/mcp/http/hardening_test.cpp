// Raw bytes sent to a running server: what must be rejected with every version of the library.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/support/peers.h"

namespace ratchet::test {
namespace {

using std::chrono::milliseconds;

const std::string kBody = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
const std::string kStart =
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

std::string length(std::size_t bytes) {
  return "Content-Length: " + std::to_string(bytes) + "\r\n";
}

int status_of(const std::string& bytes) {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const int status = peer.exchange(bytes).status;
  // Whatever was sent, the server keeps serving.
  CHECK(peer.post(legacy(1, "ping")).status == 200);
  return status;
}

TEST_CASE("a well-formed request is served", "[hardening]") {
  CHECK(status_of(kStart + length(kBody.size()) + "\r\n" + kBody) == 200);
}

TEST_CASE("a request of ambiguous length is rejected", "[hardening]") {
  const auto framing = GENERATE(
      as<std::string>{}, "Content-Length: 40\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 40\r\nContent-Length: 41\r\n",
      "Content-Length: 40\r\nContent-Length: 40\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 4x\r\n",
      "Content-Length: -4\r\n", "Content-Length: +4\r\n", "Content-Length:\r\n");
  CHECK(status_of(kStart + framing + "\r\n" + kBody) == 400);
}

TEST_CASE("a negative chunk size is rejected", "[hardening]") {
  const int status =
      status_of(kStart + "Transfer-Encoding: chunked\r\n\r\n-2\r\n" + kBody + "\r\n0\r\n\r\n");

  // With old libraries, no chunked body is accepted.
  CHECK((status == 400 || status == 411));
}

TEST_CASE("too many headers, a long line and a long head are rejected", "[hardening]") {
  std::string flood;
  for (int i = 0; i < 5000; ++i) flood += "X-" + std::to_string(i) + ": 1\r\n";
  std::string many;
  for (int i = 0; i < 99; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";

  CHECK(status_of(kStart + flood + length(2) + "\r\n{}") == 431);
  CHECK(status_of(kStart + many + length(2) + "\r\n{}") == 431);
  CHECK(status_of(kStart + "X-Long: " + std::string(9000, 'x') + "\r\n" + length(2) + "\r\n{}") ==
        431);
  CHECK(status_of(kStart + "X-Long: " + std::string(1'000'000, 'x') + "\r\n\r\n") == 431);
  CHECK(status_of("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n") ==
        414);
}

TEST_CASE("malformed heads are rejected", "[hardening]") {
  const auto head = GENERATE(
      as<std::string>{}, "POST /mcp HTTP/1.1\r\n\r\n",
      "POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n",
      "POST /mcp HTTP/1.1\r\nHost : localhost\r\n\r\n",
      "POST /mcp HTTP/1.1\r\nHost: localhost\nX: 1\r\n\r\n",
      "POST  /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "POST http://localhost/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", "nonsense\r\n\r\n");
  CHECK(status_of(head) == 400);
}

TEST_CASE("bodies that are too large, compressed or of unknown coding are rejected unread",
          "[hardening]") {
  CHECK(status_of(kStart + length((std::size_t{16} << 20U) + 1) + "\r\n") == 413);
  CHECK(status_of(kStart + "Content-Length: 99999999999999999999999\r\n\r\n") == 413);
  CHECK(status_of(kStart + "Content-Encoding: gzip\r\n" + length(2) + "\r\n{}") == 415);
  CHECK(status_of(kStart + "Transfer-Encoding: gzip, chunked\r\n\r\n") == 501);
  CHECK(status_of("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n") == 505);
}

TEST_CASE("bytes after a rejected request are not parsed as another one", "[hardening][slow]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  HttpConnection connection(peer.port());
  const std::string hidden = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  connection.send("POST /mcp HTTP/1.1\r\nHost: evil.example\r\n" + length(hidden.size()) + "\r\n" +
                  hidden);

  CHECK(connection.receive().status == 403);
  CHECK(connection.receive().status == 0);  // closed
}

TEST_CASE("pipelined requests are answered in order", "[hardening]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  HttpConnection connection(peer.port());
  connection.send(post_text(legacy(1, "ping").dump()) + post_text(legacy(2, "ping").dump()));

  CHECK(connection.receive().messages().at(0)["id"] == 1);
  CHECK(connection.receive().messages().at(0)["id"] == 2);
}

TEST_CASE("range and compression requests are ignored", "[hardening]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const auto answer =
      peer.post(legacy(1, "tools/list"), {{"Accept-Encoding", "gzip, br"}, {"Range", "bytes=0-1"}});

  CHECK(answer.status == 200);
  CHECK_FALSE(answer.headers.contains("content-encoding"));
  CHECK(answer.messages().at(0)["id"] == 1);
}

TEST_CASE("the client can read the rejection of a 17 MiB body that it sends in full",
          "[hardening]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const std::size_t size = std::size_t{17} << 20U;
  HttpConnection connection(peer.port());
  connection.send(kStart + length(size) + "\r\n" + std::string(size, ' '));

  CHECK(connection.receive().status == 413);
  CHECK(peer.post(legacy(1, "ping")).status == 200);
}

TEST_CASE("a head that trickles in is cut off and delays nobody", "[hardening]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.head_limit = milliseconds(200)});
  std::vector<std::unique_ptr<HttpConnection>> slow;
  for (int i = 0; i < 32; ++i) {
    slow.push_back(std::make_unique<HttpConnection>(peer.port()));
    slow.back()->send("POST /mcp HTTP/1.1\r\nHo");
  }
  CHECK(peer.post(legacy(1, "ping")).status == 200);
  for (const char* more : {"st", ": ", "lo", "ca"}) {
    std::this_thread::sleep_for(milliseconds(40));
    for (auto& connection : slow) connection->send(more);
  }
  for (auto& connection : slow) CHECK(connection->receive().status == 408);
}

TEST_CASE("a body that trickles in is cut off", "[hardening]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.request_limit = milliseconds(200)});
  HttpConnection slow(peer.port());
  slow.send(kStart + length(kBody.size()) + "\r\n" + kBody.substr(0, 5));

  const int status = slow.receive().status;
  CHECK((status == 0 || status == 400));  // closed; some versions of the library answer first
  CHECK(peer.post(legacy(1, "ping")).status == 200);
}

TEST_CASE("a client that half-closes after a complete request is answered", "[hardening]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  HttpConnection half(peer.port());
  half.send(kStart + length(kBody.size()) + "\r\n" + kBody);
  half.finish_sending();

  CHECK(half.receive().messages().at(0)["id"] == 1);
}

TEST_CASE("a truncated request is not served", "[hardening]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const std::string whole = kStart + length(kBody.size()) + "\r\n" + kBody;
  for (std::size_t size = 1; size < whole.size(); size += 7) {
    HttpConnection half(peer.port());
    half.send(whole.substr(0, size));
    half.finish_sending();
    CHECK(half.receive().status != 200);
  }
  CHECK(peer.post(legacy(1, "ping")).status == 200);
}

TEST_CASE("clients that disconnect leave no open streams", "[hardening]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const std::string call = post_text(legacy(1, "tools/call", {{"name", "measure"}}).dump());
  const std::string stream =
      "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
  for (int i = 0; i < 50; ++i) {
    HttpConnection(peer.port()).send(call.substr(0, call.size() / 2));
    HttpConnection(peer.port()).send(call);
    HttpConnection(peer.port()).send(stream);
  }
  // Empty when the server is too busy with those clients to answer.
  const auto open_streams = [&]() -> std::string {
    const auto metrics = peer.exchange("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").body;
    const std::string name = "\nratchet_open_streams ";
    const auto at = metrics.find(name);
    return at == std::string::npos ? "" : metrics.substr(at + name.size(), 2);
  };
  // Of a client that is gone the server may still have to read what it asked for.
  constexpr int kOften = 10;
  int closed = 0;
  for (int i = 0; i < 600 && closed < kOften; ++i) {
    closed = open_streams() == "0\n" ? closed + 1 : 0;
    std::this_thread::sleep_for(milliseconds(50));
  }
  CHECK(closed == kOften);
}

TEST_CASE("the text of an exception is never sent", "[hardening]") {
  mcp::ServerOptions options = sample_options();
  options.tools.front().call = [](const Json&, mcp::Interaction&) -> mcp::Outcome {
    throw std::runtime_error("secret path");
  };
  mcp::Server server(std::move(options));
  const HttpPeer peer(server);
  HttpConnection connection(peer.port());
  connection.send(post_text(legacy(1, "tools/call", {{"name", "echo"}}).dump()));
  const std::string everything =
      connection.receive_until("never there", std::chrono::milliseconds(300));

  CHECK(everything.find("-32603") != std::string::npos);
  CHECK(everything.find("secret") == std::string::npos);
}

}  // namespace
}  // namespace ratchet::test
