#include "server/mcp/features/tasks.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <future>

#include "server/core/long_running.h"
#include "tests/support/peers.h"

namespace ratchet::test {
namespace {

using namespace std::chrono_literals;

const Json kTakesTasks{{"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}};

struct Said {
  std::string text;
  static constexpr void fields(auto&& visit) { visit(required("text", &Said::text, "")); }
};

/// A server with one tool that becomes a job at once, asks a question, and then waits for `open`.
class TaskServer {
 public:
  TaskServer() {
    mcp::ServerOptions options;
    options.jobs = std::make_shared<BackgroundCalls>();
    options.tools.push_back(mcp::offered(long_running(
        make_tool<NoArgs, Said>({.name = "measure", .effect = Effect::uses_device},
                                [this](const NoArgs&, CallContext& call) { return work(call); }),
        *options.jobs, 0s)));
    server.emplace(std::move(options));
  }
  ~TaskServer() { open.set_value(); }

  std::promise<void> open;

 private:
  std::shared_future<void> gate_{open.get_future()};  // read by the work until the server ends

 public:
  std::optional<mcp::Server> server;

 private:
  Result<Said> work(CallContext& call) {
    if (call.confirm("Measure now?") == Consent::refused) return Said{"refused"};
    while (gate_.wait_for(1ms) != std::future_status::ready && !call.canceled()) {
    }
    if (call.canceled()) return Error{ErrorCode::timed_out, "cancelled", ""};
    return Said{"measured"};
  }
};

/// One client that declares the extension.
class TaskClient {
 public:
  explicit TaskClient(mcp::Server& server) : peer_(server) {}

  Json ask(const std::string& method, Json params = Json::object(),
           const Json& capabilities = kTakesTasks) {
    peer_.send(stateless(++id_, method, std::move(params), capabilities));
    return peer_.receive();
  }
  std::string start() {
    return ask("tools/call", {{"name", "measure"}})["result"]["taskId"].get<std::string>();
  }
  Json get(const std::string& task) { return ask("tasks/get", {{"taskId", task}})["result"]; }
  /// Polls until the task is in the state.
  Json wait_for(const std::string& task, const std::string& state) {
    Json seen = get(task);
    for (int polls = 0; seen["status"] != state && polls < 5000; ++polls) {
      std::this_thread::sleep_for(1ms);
      seen = get(task);
    }
    return seen;
  }

 private:
  StdioPeer peer_;
  int id_ = 0;
};

TEST_CASE("a client that takes tasks receives one and fetches its result", "[tasks]") {
  TaskServer sample;
  TaskClient client(*sample.server);

  const Json created = client.ask("tools/call", {{"name", "measure"}})["result"];
  CHECK(contains(created, {{"resultType", "task"}, {"status", "working"}, {"ttlMs", nullptr}}));
  const auto task = created["taskId"].get<std::string>();
  const Json asked = client.wait_for(task, "input_required");
  REQUIRE(asked["inputRequests"].size() == 1);
  const auto [key, request] = *asked["inputRequests"].items().begin();
  CHECK(request["params"]["message"] == "Measure now?");

  const Json yes{{"action", "accept"}, {"content", {{"confirm", true}}}};
  CHECK(client.ask("tasks/update",
                   {{"taskId", task}, {"inputResponses", {{key, yes}}}})["result"]["resultType"] ==
        "complete");
  CHECK(client.wait_for(task, "working")["status"] == "working");
  sample.open.set_value();
  const Json done = client.wait_for(task, "completed");
  CHECK(done["result"]["structuredContent"] == Json{{"text", "measured"}});
  CHECK(done["resultType"] == "complete");
  sample.open = {};
}

TEST_CASE("a canceled task ends, and canceling it again is not an error", "[tasks]") {
  TaskServer sample;
  TaskClient client(*sample.server);
  const auto task = client.start();

  for (int again = 0; again < 2; ++again)
    CHECK(client.ask("tasks/cancel", {{"taskId", task}})["result"]["resultType"] == "complete");

  CHECK(client.wait_for(task, "cancelled")["status"] == "cancelled");
}

TEST_CASE("a client without the extension gets the job's id as the answer", "[tasks]") {
  TaskServer sample;
  TaskClient client(*sample.server);

  const Json answer = client.ask("tools/call", {{"name", "measure"}}, Json::object())["result"];

  CHECK(answer["resultType"] == "complete");
  CHECK(answer["structuredContent"]["job"].get<std::string>().starts_with("job-"));
  CHECK_FALSE(answer.contains("taskId"));
}

TEST_CASE("task methods need the extension and an id that exists", "[tasks]") {
  const std::string method = GENERATE("tasks/get", "tasks/update", "tasks/cancel");
  TaskServer sample;
  TaskClient client(*sample.server);
  const Json params{{"taskId", "job-00"}, {"inputResponses", Json::object()}};

  const Json undeclared = client.ask(method, params, Json::object())["error"];
  CHECK(undeclared["code"] == -32021);
  CHECK(undeclared["data"]["requiredCapabilities"] == kTakesTasks);
  CHECK(client.ask(method, params)["error"]["code"] == -32602);
  CHECK(client.ask(method)["error"]["code"] == -32602);
}

TEST_CASE("responses to a task must be an object", "[tasks]") {
  TaskServer sample;
  TaskClient client(*sample.server);
  const auto task = client.start();

  const auto update = [&](Json responses) {
    return client.ask("tasks/update", {{"taskId", task}, {"inputResponses", std::move(responses)}});
  };

  CHECK(update(7)["error"]["code"] == -32602);
  CHECK(client.ask("tasks/update", {{"taskId", task}})["error"]["code"] == -32602);
  // Unknown keys are ignored, whatever their values.
  CHECK(update({{"unknown", 7}}).contains("result"));
}

TEST_CASE("listening for tasks needs the extension; their changes are polled", "[tasks]") {
  TaskServer sample;
  TaskClient client(*sample.server);
  const Json wanted{{"notifications", {{"taskIds", {"job-00"}}}}};

  CHECK(client.ask("subscriptions/listen", wanted, Json::object())["error"]["code"] == -32021);
  const Json acknowledged = client.ask("subscriptions/listen", wanted);
  CHECK_FALSE(acknowledged["params"]["notifications"].contains("taskIds"));
}

TEST_CASE("over HTTP, Mcp-Name must equal the task's id", "[tasks]") {
  TaskServer sample;
  HttpPeer peer(*sample.server);
  const Json message = stateless(1, "tasks/get", {{"taskId", "job-00"}}, kTakesTasks);

  const auto code = [&](const HeaderList& extra) {
    return peer.post(message, extra).messages().at(0)["error"]["code"];
  };

  CHECK(code({}) == -32020);
  CHECK(code({{"Mcp-Name", "job-01"}}) == -32020);
  CHECK(code({{"Mcp-Name", "job-00"}}) == -32602);
}

TEST_CASE("the tasks extension is offered if there are jobs, only in the stateless era",
          "[tasks]") {
  TaskServer sample;
  SampleServer without;
  const auto extensions = [](mcp::Server& server) {
    StdioPeer peer(server);
    peer.send(stateless(1, "server/discover"));
    return peer.receive()["result"]["capabilities"].value("extensions", Json());
  };

  CHECK(extensions(*sample.server) == kTakesTasks["extensions"]);
  CHECK(extensions(*without.server).is_null());
  StdioPeer peer(*sample.server);
  peer.send(legacy(1, "tasks/get", {{"taskId", "x"}}));
  CHECK(peer.receive()["error"]["code"] == -32601);
}

}  // namespace
}  // namespace ratchet::test
