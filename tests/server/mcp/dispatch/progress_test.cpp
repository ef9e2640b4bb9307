// Progress of a call whose work has several parts, each with a count of its own.

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "server/core/tool.h"
#include "tests/support/peers.h"

namespace ratchet::test {
namespace {

struct Nothing {
  static constexpr void fields(auto&& /*visit*/) {}
};

TEST_CASE("progress grows through all parts of a call, and each part ends at its total",
          "[progress]") {
  const std::vector<std::pair<double, std::optional<double>>> reports{
      {0, 4}, {1, 4}, {0, 30}, {15, 30}, {30, 30}, {0, std::nullopt}, {2, 4}, {4, 4}};
  auto options = sample_options();
  options.tools.push_back(mcp::offered(
      make_tool<Nothing, Nothing>({.name = "parts", .summary = "Reports progress."},
                                  [&](const Nothing&, CallContext& call) -> Result<Nothing> {
                                    for (const auto& [done, total] : reports)
                                      call.progress(done, total, "working");
                                    return Nothing{};
                                  })));
  mcp::Server server(std::move(options));
  StdioPeer peer(server);
  peer.send(legacy(1, "initialize",
                   {{"protocolVersion", "2025-11-25"},
                    {"capabilities", Json::object()},
                    {"clientInfo", {{"name", "test"}, {"version", "1"}}}}));
  REQUIRE(peer.receive().contains("result"));
  peer.send(legacy(2, "tools/call", {{"name", "parts"}, {"_meta", {{"progressToken", 7}}}}));

  double last = -1;
  for (const auto& [done, total] : reports) {
    const Json said = peer.receive().at("params");
    INFO(said.dump());
    CHECK(said.at("progress").get<double>() > last);
    last = said.at("progress");
    CHECK(said.contains("total") == total.has_value());
    // What is left of a part is what it reported, but for the millionths that make progress grow.
    if (total) CHECK(std::abs(said.at("total").get<double>() - last - (*total - done)) < 1e-4);
  }
  CHECK(peer.receive().at("id") == 2);
}

}  // namespace
}  // namespace ratchet::test
