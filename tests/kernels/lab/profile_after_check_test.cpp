// A profile goes on with judge and reference of the check before it.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <future>
#include <set>

#include "tests/kernels/lab/check_row.h"
#include "tests/support/processes.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// A kernel that has passed a check, after which judge and reference stay.
struct Checked : Row {
  Checked() {
    candidate = built(contract);
    REQUIRE(lab->validate_task(contract, "secret", call));
    REQUIRE(of(kHonestBody).passed);
    left = living();
    REQUIRE_FALSE(left.empty());
  }

  Result<TimedProfile> profile() {
    return lab->profile(contract, {.candidate = &candidate}, "secret", call);
  }

  Candidate candidate;
  std::set<pid_t> left;
};

/// The workers as soon as the profile has started one. Before, it ends what it does not use.
std::set<pid_t> living_once_started(const std::future<Result<TimedProfile>>& profile,
                                    const std::set<pid_t>& left) {
  std::set<pid_t> now;
  do now = living();
  while (std::ranges::includes(left, now) &&
         profile.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready);
  return now;
}

}  // namespace

TEST_CASE("a profile goes on with judge and reference of the check before it", "[lab][slow]") {
  Checked row;
  auto profile = std::async(std::launch::async, [&] { return row.profile(); });

  const auto now = living_once_started(profile, row.left);
  CHECK(std::ranges::includes(now, row.left));

  const auto done = profile.get();
  REQUIRE(done);
  CHECK(done->verdict == Verdict::baseline);
  CHECK(nobody_left());
}

TEST_CASE("a profile has a new judge and reference where those that waited died", "[lab][slow]") {
  Checked row;
  for (const pid_t one : row.left) kill_child(one);

  const auto profile = row.profile();

  REQUIRE(profile);
  CHECK(profile->verdict == Verdict::baseline);
}

TEST_CASE("a profile of another task uses nothing that a check left", "[lab][slow]") {
  Checked row;
  row.contract = row.doubling(doubling_source(kHonestBody), 30'000);
  row.candidate = row.built(row.contract);
  auto profile = std::async(std::launch::async, [&] { return row.profile(); });

  const auto now = living_once_started(profile, row.left);
  CHECK_FALSE(std::ranges::includes(now, row.left));

  const auto done = profile.get();
  REQUIRE(done);
  CHECK(done->verdict == Verdict::baseline);
}
