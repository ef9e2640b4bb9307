// The built server notifies a client of a run that moves on.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/clients/installed.h"

namespace ratchet::test {
namespace {

/// A client on stdio that keeps the notifications which arrive before an answer.
class Client {
 public:
  Client() {
    request("initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}});
    program_.send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  }

  Json request(const std::string& method, Json params) {
    const int id = ++requests_;
    program_.send(
        {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
    while (true) {
      Json message = program_.receive();
      INFO(method << " " << message.dump());
      REQUIRE(message.is_object());
      if (message.value("id", Json()) == Json(id)) {
        REQUIRE(message.contains("result"));
        return message["result"];
      }
      notifications_.push_back(message);
    }
  }
  Json call(const std::string& tool, Json arguments) {
    const Json result =
        request("tools/call", {{"name", tool}, {"arguments", std::move(arguments)}});
    INFO(result.dump());
    REQUIRE_FALSE(result.value("isError", false));
    return result["structuredContent"];
  }
  /// How many notifications of this method, about `uri` if that is given, arrived since the last
  /// call.
  int heard(const std::string& method, const std::string& uri = "") {
    int count = 0;
    for (const auto& one : std::exchange(notifications_, {}))
      if (one["method"] == method && (uri.empty() || one["params"].value("uri", "") == uri))
        ++count;
    return count;
  }
  [[nodiscard]] std::string folder() const { return person_.home(); }

 private:
  Newcomer person_;
  LineProgram program_{person_, {server_program(), "serve"}};
  std::vector<Json> notifications_;
  int requests_ = 0;
};

TEST_CASE("the server notifies a client of a run until it unsubscribes", "[slow]") {
  Client client;
  const std::string run =
      client.call("create_run", {{"problem", "vector_add"},
                                 {"implementation", "host-cpp"},
                                 {"dims", {{"n", 1000}}},
                                 {"output_dir", client.folder() + "/run"}})["run"];
  const std::string uri = "run://" + run + "/env_check.md";
  CHECK(client.heard("notifications/resources/list_changed") == 1);

  client.request("resources/subscribe", {{"uri", uri}});
  client.call("check_env", {{"run", run}});
  CHECK(client.heard("notifications/resources/updated", uri) == 1);

  client.request("resources/unsubscribe", {{"uri", uri}});
  client.call("check_env", {{"run", run}});
  CHECK(client.heard("notifications/resources/updated") == 0);
}

}  // namespace
}  // namespace ratchet::test
