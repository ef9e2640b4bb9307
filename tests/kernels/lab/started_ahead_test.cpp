#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "tests/kernels/lab/check_row.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

std::ptrdiff_t common(const std::set<pid_t>& one, const std::set<pid_t>& other) {
  return std::ranges::count_if(one, [&](pid_t pid) { return other.contains(pid); });
}

/// Those that have ended by now may take a while, aside.
bool soon(const std::function<bool()>& true_then) {
  const auto begin = std::chrono::steady_clock::now();
  while (!true_then()) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(20)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// So many are there, and so many of them were there before.
bool soon_there(std::size_t all, const std::set<pid_t>& before, std::ptrdiff_t same) {
  return soon([&] {
    const auto now = living();
    return now.size() == all && common(before, now) == same;
  });
}

}  // namespace

TEST_CASE("a check starts the process of the next one, and nothing of it stays after the last",
          "[lab]") {
  Row row;
  row.ahead.checks = 1;

  CHECK(row.of(kHonestBody).passed);
  // Judge, reference and its process for float64, and what the next check has: processes for a
  // kernel and for a reference.
  CHECK(soon_there(5, {}, 0));
  const auto first = living();
  CHECK(row.of("for (int i = n; i-- > 0;) y[i] = x[i] + x[i];").passed);
  CHECK(soon_there(5, first, 4));

  row.ahead = {};
  CHECK(row.of(kHonestBody).passed);
  CHECK(soon_there(3, first, 3));
}

TEST_CASE("no kernel is checked in the process of another that was started ahead", "[lab]") {
  Row row;
  row.ahead = {1, {2}};
  const auto wrong_after_150 =
      "static int calls = 0; ++calls; for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + (calls > 150);";

  for (int i = 0; i < 4; ++i) CHECK(row.of(wrong_after_150).passed);
}

TEST_CASE("a process that died while it waited for its check is no fault of the kernel", "[lab]") {
  Row row;
  row.ahead.checks = 1;
  CHECK(row.of(kHonestBody).passed);

  for (const pid_t one : living()) ::kill(one, SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // they die, and wait to be reaped

  CHECK(row.of("for (int i = n; i-- > 0;) y[i] = x[i] + x[i];").passed);
}

TEST_CASE("of a compiled reference that was asked about edges of types, only the judge goes on",
          "[lab]") {
  Row row;
  row.contract.judge = JudgeRules{.version = 4};
  row.ahead.checks = 1;

  CHECK(row.of(kHonestBody).passed);
  CHECK(soon_there(3, {}, 0));  // judge, the new reference, and the next kernel's process
  const auto first = living();
  CHECK(row.of("for (int i = n; i-- > 0;) y[i] = x[i] + x[i];").passed);
  CHECK(soon_there(3, first, 1));
  CHECK(has_reason(row.of("for (int i = 0; i < n; ++i) y[i] = x[i];"), "mismatch"));

  row.ahead = {};
  CHECK(row.of(kHonestBody).passed);
  CHECK(nobody_left());
}

TEST_CASE("races find processes that started beside checks, and end all but those of the next",
          "[lab]") {
  Row row;
  row.ahead = {0, {2, 2}};
  const auto candidate = row.built(row.contract);
  const std::vector<Entrant> entrants{{"one", &candidate}, {"other", &candidate}};
  RacePlan plan{row.contract.cases.front().dims, 4, {0, {2}}};
  CHECK(row.of(kHonestBody).passed);
  CHECK(row.of(kHonestBody).passed);
  CHECK(row.of(kHonestBody).passed);
  const auto started = living();
  CHECK(started.size() >= 4 + 2);  // contestants, and judge and reference of the checks

  CHECK(row.lab->race(row.contract, entrants, plan, "secret", row.call));
  CHECK(common(started, living()) >= 2);

  plan.ahead = {};
  CHECK(row.lab->race(row.contract, entrants, plan, "secret", row.call));
  CHECK(nobody_left());
}

TEST_CASE("what was started ahead ends before a job of another contract has the device", "[lab]") {
  Row row;
  row.ahead = {1, {3}};
  CHECK(row.of(kHonestBody).passed);
  REQUIRE_FALSE(nobody_left());

  CHECK(row.check(kHonestBody, "// of another run").passed);

  CHECK(nobody_left());
}

TEST_CASE("an admission starts the process of the check that follows, and keeps it for seconds",
          "[lab][slow]") {
  Row row;
  const auto candidate = row.built(row.contract);
  REQUIRE(row.lab->validate_task(row.contract, "secret", row.call));
  const auto admitted = living();
  // Judge, reference, its process for float64, and one for the kernel.
  REQUIRE(admitted.size() == 4);

  const auto refused = row.lab->refused_size(row.contract, candidate, "secret", row.call);
  REQUIRE(refused);
  CHECK_FALSE(*refused);
  CHECK(soon_there(4, admitted, 3));  // the kernel has had its process: there is another one
  const auto first = living();

  CHECK(row.of(kHonestBody).passed);
  CHECK(soon_there(3, first, 3));
  CHECK(soon(nobody_left));
}

TEST_CASE("a kernel that crashes when it is loaded fails in a process that was started ahead",
          "[lab]") {
  Row row;
  REQUIRE(row.lab->validate_task(row.contract, "secret", row.call));

  const auto report = row.of(kHonestBody, "struct Bad { Bad() { __builtin_trap(); } } bad;");

  CHECK_FALSE(report.passed);
  CHECK(report.fault);
}
