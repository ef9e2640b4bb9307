// Runs behind a server: clients of both eras, over both transports, are notified when a run moves
// on.

#include "server/offers/run_changes.h"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "server/offers/resources.h"
#include "tests/support/peers.h"
#include "tests/support/places.h"
#include "tests/support/runs_samples.h"

namespace ratchet::test {
namespace {

using std::chrono::milliseconds;

/// A server that offers the artifacts of one run.
class ServedRun {
 public:
  ServedRun() {
    mcp::ServerOptions options;
    options.version = "1";
    options.resources = all_resources(*runs_, *knowledge_, build_dir() / "share/ratchet/docs");
    server_ = std::make_unique<mcp::Server>(std::move(options));
    notify_of_changes(*runs_, *server_);
    auto view = runs_->create({.contract = samples::contract(),
                               .environment = samples::environment(),
                               .v0 = samples::candidate(samples::kernel_text(0)),
                               .warnings = {},
                               .output_dir = folder_.path() / "out",
                               .overwrite = false,
                               .secret = "s"});
    REQUIRE(view);
    run_ = view->run;
  }

  mcp::Server& server() { return *server_; }
  [[nodiscard]] std::string uri(const std::string& artifact) const {
    return "run://" + run_.text + "/" + artifact;
  }
  /// Rewrites env_check.md, which exists.
  void record_environment() { REQUIRE(runs_->record_environment(run_, samples::environment())); }
  /// Adds v0/correctness.md, among others.
  void record_correctness() {
    const auto permit = runs_->permit(run_, Event::checked);
    REQUIRE(permit);
    REQUIRE(runs_->record_correctness(*permit, samples::correctness(*permit->candidate)));
  }

 private:
  samples::FastFolder folder_;
  std::unique_ptr<Runs> runs_ = *Runs::open(folder_.path() / "state", {.durable = false});
  std::unique_ptr<Knowledge> knowledge_ = *Knowledge::open(
      {.builtin_index = build_dir() / "share/ratchet/kbs/builtin.db", .user_index = {}});
  RunId run_;
  std::unique_ptr<mcp::Server> server_;
};

const Json kListChanged{{"method", "notifications/resources/list_changed"}};

Json updated(const std::string& uri) {
  return {{"method", "notifications/resources/updated"}, {"params", {{"uri", uri}}}};
}

Json initialize() {
  return legacy(0, "initialize",
                {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}});
}

Json listen(const std::string& uri) {
  return stateless(
      "l", "subscriptions/listen",
      {{"notifications", {{"resourcesListChanged", true}, {"resourceSubscriptions", {uri}}}}});
}

TEST_CASE("a legacy stdio client hears of a run until it unsubscribes", "[offers]") {
  ServedRun served;
  StdioPeer peer(served.server());
  const std::string uri = served.uri("env_check.md");
  peer.send(initialize());
  REQUIRE(peer.receive()["id"] == 0);
  peer.send(legacy(1, "resources/subscribe", {{"uri", uri}}));
  REQUIRE(peer.receive()["id"] == 1);

  served.record_environment();
  CHECK(contains(peer.receive(), updated(uri)));
  served.record_correctness();
  CHECK(contains(peer.receive(), kListChanged));

  peer.send(legacy(2, "resources/unsubscribe", {{"uri", uri}}));
  REQUIRE(peer.receive()["id"] == 2);
  served.record_environment();
  CHECK(peer.receive(milliseconds(30)).is_null());
}

TEST_CASE("a stateless stdio client hears of a run on its stream alone", "[offers]") {
  ServedRun served;
  StdioPeer peer(served.server());
  const std::string uri = served.uri("env_check.md");
  // Nothing is sent to a client that has not asked.
  peer.send(stateless(1, "server/discover"));
  REQUIRE(peer.receive()["result"]["capabilities"]["resources"]["subscribe"] == true);
  served.record_correctness();
  CHECK(peer.receive(milliseconds(30)).is_null());

  peer.send(listen(uri));
  REQUIRE(peer.receive()["params"]["notifications"]["resourcesListChanged"] == true);
  served.record_environment();
  const Json update = peer.receive();
  CHECK(contains(update, updated(uri)));
  CHECK(update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "l");

  peer.send({{"jsonrpc", "2.0"},
             {"method", "notifications/cancelled"},
             {"params", {{"requestId", "l"}}}});
  peer.send(legacy(2, "ping"));
  REQUIRE(peer.receive()["id"] == 2);
  served.record_environment();
  CHECK(peer.receive(milliseconds(30)).is_null());
}

TEST_CASE("HTTP clients hear of a run on a GET stream and on a listen stream", "[offers]") {
  ServedRun served;
  const HttpPeer peer(served.server());
  const std::string uri = served.uri("env_check.md");
  HttpConnection get(peer.port());
  get.send("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
  REQUIRE(get.receive_until("\r\n\r\n").find("200 OK") != std::string::npos);
  REQUIRE(peer.post(legacy(1, "resources/subscribe", {{"uri", uri}})).status == 200);
  HttpConnection stream(peer.port());
  stream.send(post_text(listen(uri).dump()));
  REQUIRE(stream.receive_until("acknowledged").find("200 OK") != std::string::npos);

  served.record_environment();
  for (auto* client : {&get, &stream})
    CHECK(client->receive_until("env_check.md\"}").find("resources/updated") != std::string::npos);
  served.record_correctness();
  for (auto* client : {&get, &stream})
    CHECK(client->receive_until("list_changed").find("resources/list_changed") !=
          std::string::npos);

  REQUIRE(peer.post(legacy(2, "resources/unsubscribe", {{"uri", uri}})).status == 200);
  served.record_environment();
  CHECK(get.receive_until("resources/updated", milliseconds(50)).find("resources/updated") ==
        std::string::npos);
}

}  // namespace
}  // namespace ratchet::test
