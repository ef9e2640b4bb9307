// Legacy clients whose connection ended before the answer: what they receive when they resume.

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "server/mcp/http/resumable_streams.h"
#include "tests/support/peers.h"

namespace ratchet::test {
namespace {

using std::chrono::milliseconds;

const HeaderList kNewest{{"MCP-Protocol-Version", "2025-11-25"}};
const HeaderList kEventsFirst{{"MCP-Protocol-Version", "2025-11-25"},
                              {"Accept", "text/event-stream, application/json"}};

Json call(const std::string& tool) {
  return legacy(7, "tools/call",
                {{"name", tool}, {"arguments", Json::object()}, {"_meta", {{"progressToken", 1}}}});
}

std::string resume(const std::string& event_id) {
  return "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
         "Last-Event-ID: " +
         event_id + "\r\n\r\n";
}

/// The id of the last event in a text.
std::string last_id(const std::string& events) {
  const auto at = events.rfind("id: ");
  REQUIRE(at != std::string::npos);
  return events.substr(at + 4, events.find('\n', at) - at - 4);
}

TEST_CASE("a client that lists event streams first gets every answer as events", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const auto streamed = peer.post(legacy(1, "ping"), kEventsFirst);

  CHECK(streamed.headers.at("content-type") == "text/event-stream");
  CHECK(streamed.body.find("\"id\":1") != std::string::npos);
  CHECK(peer.post(legacy(1, "ping"), kNewest).headers.at("content-type") == "application/json");
}

TEST_CASE("a stream begins with an event to resume from, for clients that accept one", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const auto newest = peer.post(call("measure"), kEventsFirst).body;
  const auto older = peer.post(call("measure"), {{"MCP-Protocol-Version", "2025-06-18"},
                                                 {"Accept", "text/event-stream"}})
                         .body;

  CHECK(newest.starts_with("id: "));
  CHECK(newest.find("-0\nretry: 500\ndata: \n\n") != std::string::npos);
  CHECK(older.find("retry") == std::string::npos);
  CHECK(older.starts_with("id: "));
}

TEST_CASE("a resumed stream delivers the messages that the broken connection lost", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  const std::string whole = peer.post(call("measure"), kEventsFirst).body;
  const std::string stream = last_id(whole).substr(0, last_id(whole).rfind('-'));

  // `measure` reports progress three times and then answers: four messages.
  const auto all = peer.exchange(resume(stream + "-0")).messages();
  REQUIRE(all.size() == 4);
  CHECK(all.back()["id"] == 7);
  const auto rest = peer.exchange(resume(stream + "-2")).messages();
  REQUIRE(rest.size() == 2);
  CHECK(rest.front() == all.at(2));
}

TEST_CASE("a call continues while its legacy client is disconnected", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  std::string id;
  {
    HttpConnection lost(peer.port());
    lost.send(post_text(call("occupy").dump(), kEventsFirst));
    id = last_id(lost.receive_until("data: \n\n"));
  }
  HttpConnection back(peer.port());
  back.send(resume(id));
  CHECK(back.receive_until("\r\n\r\n").find("200 OK") != std::string::npos);
  sample.release();

  CHECK(back.receive_until("waited").find("\"id\":7") != std::string::npos);
  CHECK(sample.canceled() == 0);
}

TEST_CASE("an event that is gone, or of another session, cannot be resumed from", "[http]") {
  SampleServer sample;
  const HttpPeer peer(*sample.server, {.sessions = true});
  const auto open = [&] {
    return peer.post(legacy(0, "initialize", {{"protocolVersion", "2025-11-25"}}))
        .headers.at("mcp-session-id");
  };
  const std::string mine = open();
  HeaderList headers = kEventsFirst;
  headers["Mcp-Session-Id"] = mine;
  const std::string id = last_id(peer.post(call("measure"), headers).body);
  const auto status = [&](const std::string& session, const std::string& event) {
    std::string request = resume(event);
    request.insert(request.size() - 2, "Mcp-Session-Id: " + session + "\r\n");
    return peer.exchange(request).status;
  };

  CHECK(status(mine, id) == 200);
  CHECK(status(open(), id) == 400);
  CHECK(status(mine, id + "0") == 400);
  CHECK(status(mine, "nonsense") == 400);
  CHECK(status(mine, "-") == 400);
}

TEST_CASE("up to 1 MiB of read messages is kept", "[http]") {
  mcp::Session session;
  mcp::ResumableStreams streams;
  const auto stream = std::make_shared<mcp::EventStream>();
  // Not owned: both outlive the pointers.
  streams.add(stream, std::shared_ptr<mcp::Session>(&session, [](mcp::Session*) {}));
  std::size_t next = 0;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(stream->send(std::string(std::size_t{400} << 10U, 'x')));
    const std::string events = stream->take_events(next);
    const std::string first = last_id(events).substr(0, 33) + "0";
    // 400 and 800 KiB are kept; at 1200 KiB the first message is dropped.
    CHECK(streams.after(first, session).has_value() == (i < 2));
  }
}

TEST_CASE("a stream that is not resumable keeps no read messages", "[http]") {
  mcp::EventStream stream;
  std::size_t next = 0;
  REQUIRE(stream.send("{}"));

  CHECK(stream.take_events(next) == "event: message\ndata: {}\n\n");
  CHECK_FALSE(stream.holds(0));
  stream.hang_up();
  CHECK_FALSE(stream.take_hang_up());
}

}  // namespace
}  // namespace ratchet::test
