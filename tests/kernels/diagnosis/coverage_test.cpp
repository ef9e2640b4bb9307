// Calls of several kernels of which some could not be counted.

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/kernels/diagnosis/counted_kernel.h"

using namespace ratchet;
using test::kComputes;
using test::kMoves;

namespace {

constexpr const char* kTime = "gpu__time_duration.sum";

/// Full of traffic, with loads that cause it.
KernelCounters moving(const std::string& name, double ns) {
  return {name,
          {{kTime, ns},
           {kComputes, 20},
           {kMoves, 90},
           {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 90},
           {test::waiting("long_scoreboard"), 9},
           {"launch__grid_size", 1000}}};
}

/// Only its launch is known.
KernelCounters uncounted(const std::string& name) {
  return {name, {{"launch__grid_size", 1000}}};
}

struct Call {
  std::vector<KernelCounters> kernels;
  std::vector<LaunchTime> launched;
  Roofline roofline;
};

Diagnosis diagnosed(const Call& call) {
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.device.multiprocessors = 132;
  input.timing.median = {100'000};
  input.kernels = call.kernels;
  input.launched = call.launched;
  input.launches = static_cast<int>(call.launched.size());
  input.roofline = call.roofline;
  return diagnose(input);
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("class and findings of a call say what part of it was counted, and claim no more",
          "[diagnosis]") {
  const std::vector<KernelCounters> all{moving("a", 39'000), moving("b", 30'000),
                                        moving("c", 9'000), moving("d", 22'000)};
  auto some = all;
  some.back() = uncounted("d");
  const std::vector<LaunchTime> launched{
      {"a", 1000, 39'000}, {"b", 1000, 30'000}, {"c", 1000, 9'000}, {"d", 1000, 22'000}};
  const auto whole = diagnosed({all, launched, {}});
  const auto part = diagnosed({some, launched, {}});
  const std::string words = "counters of 3 of 4 kernels, 78 % of the time";

  REQUIRE(whole.findings.size() == 1);
  CHECK(whole.bound == Bound::memory);
  CHECK(whole.confidence == Confidence::high);
  CHECK_FALSE(says(whole.bound_evidence + whole.findings[0].evidence, "counters of"));

  REQUIRE(part.findings.size() == 1);
  CHECK(part.bound == Bound::memory);
  CHECK(part.confidence == Confidence::medium);
  CHECK(says(part.bound_evidence, words));
  CHECK(says(part.findings[0].evidence, words));
  CHECK(part.findings[0].confidence != Confidence::high);
  // What the fourth kernel could save is not known.
  CHECK(std::abs(part.findings[0].headroom - 0.78 * whole.findings[0].headroom) < 1e-9);
}

TEST_CASE("a call of which more than a quarter was not counted is diagnosed with low confidence",
          "[diagnosis]") {
  const auto part = diagnosed(
      {{moving("a", 60'000), uncounted("b")}, {{"a", 1000, 60'000}, {"b", 1000, 40'000}}, {}});
  CHECK(part.bound == Bound::memory);
  CHECK(part.confidence == Confidence::low);
  for (const auto& finding : part.findings) CHECK(finding.confidence == Confidence::low);
}

TEST_CASE("less than half of a call names no class, but a near roof does", "[diagnosis]") {
  Call call{{moving("a", 40'000), uncounted("b")}, {{"a", 1000, 40'000}, {"b", 1000, 60'000}}, {}};
  const auto blind = diagnosed(call);
  CHECK(blind.bound == Bound::unknown);
  CHECK(blind.confidence == Confidence::low);
  CHECK(says(blind.bound_evidence, "counters of 1 of 2 kernels, 40 % of the time"));

  // Far from both roofs a call may wait for anything.
  call.roofline.bandwidth_fraction = 0.2;
  call.roofline.compute_fraction = 0.1;
  CHECK(diagnosed(call).bound == Bound::unknown);
  call.roofline.bandwidth_fraction = 0.9;
  CHECK(diagnosed(call).bound == Bound::memory);
}

TEST_CASE("launches of a counted kernel with as many blocks need not be counted", "[diagnosis]") {
  // 64 launches are counted at most.
  std::vector<LaunchTime> launched(200, LaunchTime{"a", 1000, 500});
  const auto repeated = diagnosed({{moving("a", 500)}, launched, {}});
  CHECK(repeated.bound == Bound::memory);
  CHECK_FALSE(says(repeated.bound_evidence, "counters of"));

  // The same kernel on more data is other work.
  launched.back() = {"a", 64'000, 900'000};
  const auto other = diagnosed({{moving("a", 500)}, launched, {}});
  CHECK(other.bound == Bound::unknown);
  CHECK(says(other.bound_evidence, "counters of 199 of 200 kernels, 10 % of the time"));
}

TEST_CASE("where launches are not known, the counted kernels are held against the call's time",
          "[diagnosis]") {
  const std::vector<KernelCounters> kernels{moving("a", 30'000), uncounted("b")};
  CHECK(says(diagnosed({kernels, {}, {}}).bound_evidence,
             "counters of 1 of 2 kernels, 30 % of the time"));
  // Another engine's names.
  CHECK(says(
      diagnosed({kernels, {{"a(float*)", 1000, 30'000}, {"b()", 1000, 70'000}}, {}}).bound_evidence,
      "counters of 1 of 2 kernels, 30 % of the time"));
}

TEST_CASE("a call of which nothing was counted is judged by its roofs as before", "[diagnosis]") {
  Call call{{uncounted("a"), uncounted("b")}, {{"a", 1000, 40'000}, {"b", 1000, 60'000}}, {}};
  call.roofline.bandwidth_fraction = 0.9;
  CHECK(diagnosed(call).bound == Bound::memory);
  CHECK_FALSE(says(diagnosed(call).bound_evidence, "counters of"));
}
