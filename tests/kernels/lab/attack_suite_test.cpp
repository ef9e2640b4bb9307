// Runs every kernel of tests/attacks/host, and those of tests/attacks/python that need no GPU,
// through the real laboratory and checks the expectations in its head.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <optional>

#include "tests/kernels/lab/attack.h"
#include "tests/kernels/lab/lab_fixture.h"
#include "tests/kernels/lab/python_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// Where a kernel was stopped, and the reasons.
struct Outcome {
  std::string stage = "pass";
  std::vector<std::string> reasons;
  bool implausible = false;  ///< its time has that caveat
  double median_ns = 0;
  std::string text;  ///< for people

  void add(const std::vector<Reason>& found) {
    for (const auto& reason : found) {
      reasons.push_back(reason.code);
      text += reason.code + ": " + reason.message + "\n";
    }
  }
};

std::optional<Outcome> profiled(LabFixture& fixture, const Contract& contract,
                                const Candidate& candidate) {
  ProfileRequest request;
  request.candidate = &candidate;
  request.metrics = MetricSet::lean;
  const auto profile = fixture.lab->profile(contract, request, "secret", fixture.call);
  if (!profile) FAIL(profile.error().message);
  Outcome outcome;
  outcome.add(profile->reasons);
  outcome.median_ns = profile->timing.median.value;
  outcome.implausible = std::ranges::count(profile->timing.flags, "implausibly_fast") > 0;
  if (profile->verdict == Verdict::invalid) outcome.stage = "profile";
  return outcome;
}

/// Goes as far as the kernel gets, or as its head asks.
Outcome outcome_of(LabFixture& fixture, const Attack& attack) {
  const std::string suffix = attack.name.ends_with(".py") ? ".py" : ".cpp";
  const auto task = host_task(attack.task, suffix);
  Outcome outcome;
  const auto contract =
      fixture.lab->plan(task.request, {"kernel" + suffix, attack.text, ""}, task.reference);
  if (!contract) FAIL(attack.name << ": " << contract.error().message);
  const auto candidate = fixture.lab->build(*contract, contract->kernel, fixture.call);
  if (!candidate) FAIL(attack.name << ": " << candidate.error().message);
  if (!candidate->build.ok) {
    outcome.stage = "build";
    for (const auto& error : candidate->build.errors) outcome.text += error.message + "\n";
    outcome.text += candidate->build.error_class.value_or("");
    return outcome;
  }
  if (attack.stage == "admit") {
    const auto weak = fixture.lab->validate_task(*contract, "secret", fixture.call);
    if (!weak) FAIL(attack.name << ": " << weak.error().message);
    outcome.stage = "admit";
    outcome.add(*weak);
    return outcome;
  }
  const auto report = fixture.lab->check(*contract, *candidate, "secret", fixture.call);
  if (!report) FAIL(attack.name << ": " << report.error().message);
  outcome.add(report->reasons);
  if (!report->passed) outcome.stage = "check";
  if (!report->passed || attack.stage == "check") return outcome;
  // Every honest kernel withstands a short search, too.
  const bool honest = attack.catalog.front() == "honest";
  if (const double seconds = attack.search > 0 ? attack.search : honest ? 1 : 0; seconds > 0) {
    const auto found = fixture.lab->search_values(*contract, {&*candidate, nullptr, seconds},
                                                  "secret", fixture.call);
    if (!found) FAIL(attack.name << ": " << found.error().message);
    outcome.add(found->reasons);
    if (!found->reasons.empty()) outcome.stage = "search";
    if (!found->reasons.empty() || attack.stage == "search") return outcome;
  }
  return *profiled(fixture, *contract, *candidate);
}

bool as_expected(const Attack& attack, const Outcome& outcome) {
  // The speed of a harmless kernel is checked on a GPU; here it must only pass.
  if (attack.stage == "pass" || attack.stage == "like")
    return outcome.stage == "pass" && !outcome.implausible;
  // Beside neighbors a call may be slower when it is timed again, and then the time does not count.
  if (attack.stage == "flag") return outcome.stage != "check" && outcome.implausible;
  if (attack.stage == "time")
    return outcome.stage == "pass" && outcome.median_ns >= attack.least_ns;
  const bool in_place =
      outcome.stage == attack.stage ||
      (attack.stage == "any" && (outcome.stage == "check" || outcome.stage == "profile"));
  return in_place && std::ranges::any_of(attack.reasons, [&](const std::string& reason) {
           return attack.stage == "build" ? outcome.text.find(reason) != std::string::npos
                                          : std::ranges::count(outcome.reasons, reason) > 0;
         });
}

/// Runs every attack whose first catalog id starts with one of these letters.
void run_all(const std::string& letters) {
  LabFixture fixture;
  for (const auto& attack : attacks_of("host")) {
    if (letters.find(attack.catalog.front()[0]) == std::string::npos) continue;
    const auto outcome = outcome_of(fixture, attack);
    INFO(attack.name << " was stopped at: " << outcome.stage << ", " << outcome.median_ns << " ns\n"
                     << outcome.text);
    CHECK(as_expected(attack, outcome));
  }
}

/// The same of the Python kernels whose name starts so, or does not.
void run_python(bool honest) {
  LabFixture fixture(python_with_frameworks());
  for (const auto& attack : attacks_of("python")) {
    if (attack.needs_gpu || (attack.catalog.front() == "honest") != honest) continue;
    const auto outcome = outcome_of(fixture, attack);
    INFO(attack.name << " was stopped at: " << outcome.stage << "\n" << outcome.text);
    CHECK(as_expected(attack, outcome));
  }
}

}  // namespace

TEST_CASE("cheats in Python are detected on the host", "[attacks][python][timed]") {
  run_python(false);
}

TEST_CASE("no honest Python kernel is refused on the host", "[attacks][python][slow]") {
  run_python(true);
}

TEST_CASE("timing cheats are detected on the host", "[attacks][timed]") {
  run_all("A");
}

TEST_CASE("stale, replayed and stolen answers are detected on the host", "[attacks][slow]") {
  run_all("B");
}

TEST_CASE("wrong and partial answers are detected on the host", "[attacks][slow]") {
  run_all("C");
}

TEST_CASE("precision cheats are detected on the host", "[attacks][slow]") {
  run_all("D");
}

TEST_CASE("tampering and cheats with resources and scores are detected on the host",
          "[attacks][slow]") {
  run_all("EFG");
}

TEST_CASE("kernels that are wrong on values that no check draws are found by a search",
          "[attacks][slow]") {
  run_all("I");
}

TEST_CASE("no honest kernel is refused on the host", "[attacks][slow]") {
  run_all("h");
}
