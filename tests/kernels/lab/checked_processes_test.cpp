// Processes of kernels that have passed their checks go on to the race that ranks them.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/kernels/lab/check_row.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

constexpr double kSlow = 2e6;  // ns

/// Takes 2 ms for the task's own size in a process that has seen another size, as that of its check
/// has.
constexpr const char* kSlowOnceChecked =
    R"(static bool checked = false;
checked = checked || n != 1000;
const auto begin = std::chrono::steady_clock::now();
for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
while (checked && n == 1000 && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2));)";

/// A kernel that has passed its check, and a race with what the run began with.
struct Ranked : Row {
  Ranked() {
    ahead = {0, {2, 2}};
    incumbent = built(contract);
    kernel = built_with(kSlowOnceChecked);
    const auto report = lab->check(contract, kernel, ahead, "secret", call);
    REQUIRE(report);
    REQUIRE(report->passed);
  }

  Candidate built_with(const std::string& body) {
    auto candidate =
        lab->build(contract, {"kernel.cpp", doubling_source(body, "#include <chrono>"), ""}, call);
    REQUIRE(candidate);
    REQUIRE(candidate->build.ok);
    return *std::move(candidate);
  }

  /// The kernel's median.
  double median(std::optional<int> samples) {
    const std::vector<Entrant> entrants{{"incumbent", &incumbent}, {"kernel", &kernel}};
    const auto lines =
        lab->race(contract, entrants, {contract.cases.front().dims, samples, {}}, "secret", call);
    REQUIRE(lines);
    REQUIRE(lines->back().reasons.empty());
    REQUIRE(lines->back().timing);
    return lines->back().timing->median.value;
  }

  Candidate incumbent, kernel;
};

}  // namespace

TEST_CASE("a kernel is ranked in the process of its check", "[lab]") {
  Ranked row;

  CHECK(row.median(4) >= kSlow);
  CHECK(nobody_left());
}

TEST_CASE("a race that decides has new processes", "[lab]") {
  Ranked row;

  CHECK(row.median({}) < kSlow / 2);
  CHECK(nobody_left());
}

TEST_CASE("a kernel whose process died while it waited for its race has a new one", "[lab]") {
  Ranked row;
  for (const pid_t one : living()) ::kill(one, SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // they die, and wait to be reaped

  CHECK(row.median(4) < kSlow / 2);
}

TEST_CASE("a kernel that ceases to be right after its check is raced again in a new process",
          "[lab]") {
  Ranked row;
  row.kernel = row.built_with(
      R"(static bool checked = false;
static auto last = std::chrono::steady_clock::now();
const auto now = std::chrono::steady_clock::now();
checked = checked || n != 1000;
const bool waited = checked && now - last > std::chrono::milliseconds(700);
static bool wrong = false;
wrong = wrong || waited;
last = now;
for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + wrong;)");
  const auto report = row.lab->check(row.contract, row.kernel, row.ahead, "secret", row.call);
  REQUIRE(report);
  REQUIRE(report->passed);
  std::this_thread::sleep_for(std::chrono::seconds(1));

  CHECK(row.median(4) < kSlow / 2);
}

TEST_CASE("a kernel that failed its check, which still is right for one size, has a new process",
          "[lab]") {
  Ranked row;
  row.kernel = row.built_with(std::string(kSlowOnceChecked) + " if (n != 1000) y[0] += 1;");
  const auto report = row.lab->check(row.contract, row.kernel, row.ahead, "secret", row.call);
  REQUIRE(report);
  REQUIRE_FALSE(report->passed);

  CHECK(row.median(4) < kSlow / 2);
}

TEST_CASE("a fault counts when no process of another kernel stays beside it", "[lab]") {
  int begun = 0;
  Ranked row;
  CallContext watched(
      [&](double, std::optional<double>, std::string_view message) {
        if (message == "check case 0 seed 0 normal") ++begun;
      },
      {});
  const auto faulty = row.built_with("if (n == 1000) __builtin_trap();");

  for (const int asked : {2, 1}) {  // the first ends those that stay
    begun = 0;
    const auto report = row.lab->check(row.contract, faulty, row.ahead, "secret", watched);
    REQUIRE(report);
    CHECK(report->fault);
    CHECK(begun == asked);
  }
}
