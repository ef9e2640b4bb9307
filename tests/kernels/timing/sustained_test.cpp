#include "kernels/timing/sustained.h"

#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

namespace {

/// Twenty rounds in which the candidate takes 10 µs, v0 `v0` and the parent `parent` times that.
SessionRecord session_of(double v0, double parent) {
  SessionRecord session;
  session.contestants = {{"candidate", {}, {}}, {"v0", {}, {}}, {"parent", {}, {}}};
  for (std::size_t i = 0; i < 20 * kBlocksOfRound; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const double time = 10'000 * (c == 1 ? v0 : c == 2 ? parent : 1);
      session.contestants[c].blocks.push_back({.elapsed_ns = {time, time, time}});
    }
  return session;
}

const Dims kDims{{"n", 4096}};

}  // namespace

TEST_CASE("a kernel that gains with cold caches and loses when sustained is named", "[timing]") {
  const auto notes =
      sustained_notes(session_of(1.2, 1.1), session_of(0.9, 1.1), sustained_plan({}), kDims);

  REQUIRE(notes.size() == 2);
  CHECK(notes[0] ==
        "n=4096: sustained (one call after the other, nothing flushed): candidate 10 µs; v0 9 "
        "µs, speedup 0.9x (0.9 … 0.9), slower; parent 11 µs, speedup 1.1x (1.1 … 1.1), "
        "faster");
  CHECK(
      notes[1].starts_with("n=4096: against v0 the candidate is faster with cold caches (1.2x) "
                           "and slower when sustained (0.9x)"));
}

TEST_CASE("a gain that shrinks when sustained keeps its sign", "[timing]") {
  const auto notes =
      sustained_notes(session_of(1.2, 1.1), session_of(1.05, 1), sustained_plan({}), kDims);

  REQUIRE(notes.size() == 1);  // the same is no loss
  CHECK(notes[0].find("v0 10.5 µs, speedup 1.05x") != std::string::npos);
  CHECK(notes[0].ends_with("same"));
}

TEST_CASE("what failed in either mode is not compared, and is said", "[timing]") {
  auto failed = session_of(0.9, 1);
  failed.contestants[1].reasons.push_back({"fault_timeout", "it did not return", {}});
  const auto notes = sustained_notes(session_of(1.2, 1.1), failed, sustained_plan({}), kDims);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("; v0 failed: ") != std::string::npos);
  CHECK(notes[0].find("parent 10 µs, speedup") != std::string::npos);

  failed.contestants[0].reasons.push_back({"fault_timeout", "it did not return", {}});
  const auto own = sustained_notes(session_of(1.2, 1.1), failed, sustained_plan({}), kDims);
  REQUIRE(own.size() == 1);
  CHECK(own[0].find("candidate failed: ") != std::string::npos);
  CHECK(own[0].find("it did not return") != std::string::npos);
}

TEST_CASE("a sustained session flushes nothing and takes a second at most", "[timing]") {
  SessionPlan cold;
  cold.samples = 100;
  const auto plan = sustained_plan(cold);

  CHECK(plan.cache_mode == CacheMode::hot);
  CHECK_FALSE(plan.samples);
  CHECK(plan.time_limit == std::chrono::milliseconds(1000));
}
