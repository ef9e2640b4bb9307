#include "server/runs/ledger/run_state.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace ratchet {
namespace {

TEST_CASE("a row about an outcome that names no event is refused", "[runs][ledger]") {
  for (const char* kind : {kind::kBuild, kind::kCorrectness, kind::kProfile, kind::kGate}) {
    RunState state;
    state.versions.emplace_back();
    const LedgerRow row{.sequence = 2,
                        .run = RunId{"shift-1"},
                        .kind = kind,
                        .payload = R"({"fact":{},"artifacts":[],"removed":[]})"};
    const auto applied = apply(state, row);
    REQUIRE_FALSE(applied);
    CHECK(applied.error().code == ErrorCode::internal);
    CHECK(applied.error().message.find("names no event") != std::string::npos);
  }
}

}  // namespace
}  // namespace ratchet
