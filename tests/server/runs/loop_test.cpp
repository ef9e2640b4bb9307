// One run from its contract to its report, and the refusals on the way.

#include <catch2/catch_test_macros.hpp>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::codes;
using samples::kernel_text;
using samples::text_of;
using samples::Workshop;

TEST_CASE("a new run is at v0, built, with its contract on disk", "[runs]") {
  const Workshop shop;

  CHECK(shop.run.text.substr(0, 6) == "shift-");
  CHECK(shop.run.text.size() == 6 + 8);
  const auto status = shop.status();
  CHECK(status.version.text() == "v0");
  CHECK(status.stage == Stage::built);
  CHECK(status.allowed.front() == "check_correctness");
  CHECK(status.integrity.empty());
  for (const char* name :
       {"ref.cpp", "contract.json", "env_check.md", "v0/kernel.cpp", "v0/build.md"})
    CHECK(samples::fs::exists(shop.out() / name));
  CHECK(text_of(shop.out() / "current_iteration.txt") == "v0\n");
}

TEST_CASE("a whole run passes gate after gate and ends with its reports", "[runs]") {
  const Workshop shop(2);
  shop.finish_v0();
  auto gate = shop.gate();
  REQUIRE(gate.passed);
  CHECK(gate.version.text() == "v1");
  CHECK(gate.stage == Stage::open);
  CHECK(text_of(shop.out() / "current_iteration.txt") == "v1\n");
  shop.finish_version(1, 1.2);
  shop.write_hypothesis("unroll the loop");
  REQUIRE(shop.gate().passed);
  shop.finish_version(2, 1.5);
  gate = shop.gate(true);
  INFO((gate.reasons.empty() ? "" : gate.reasons.front().message));
  REQUIRE(gate.passed);
  CHECK(gate.stage == Stage::finished);
  CHECK(text_of(shop.out() / "current_iteration.txt") == "v2\n");

  const auto granted = shop.permit(Event::benchmarked);
  REQUIRE(shop.runs().record_benchmark(granted, samples::benchmark(*granted.candidate, 666)));
  const auto report = shop.runs().write_report(shop.run, "It went well.");
  REQUIRE(report);
  CHECK(samples::fs::exists(report->artifacts.front()));
  CHECK(shop.status().best == VersionId{2});
  CHECK(shop.status().integrity.empty());
  CHECK(shop.runs().audit(shop.run)->intact);
}

TEST_CASE("check_gate without final on the last version names final and extend_run", "[runs]") {
  const Workshop shop(1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);

  const auto gate = shop.gate();

  CHECK_FALSE(gate.passed);
  REQUIRE(codes(gate.reasons).front() == "last_version");
  CHECK(gate.next.value_or("").find("extend_run") != std::string::npos);
}

TEST_CASE("the final gate is refused before the last version is open", "[runs]") {
  const Workshop shop(2);
  shop.finish_v0();

  CHECK(codes(shop.gate(true).reasons) == std::vector<std::string>{"not_last_version"});
}

TEST_CASE("passing the final gate again only verifies again", "[runs]") {
  const Workshop shop(1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  REQUIRE(shop.gate(true).passed);
  const auto rows = shop.runs().audit(shop.run)->rows;

  CHECK(shop.gate(true).passed);
  CHECK(shop.runs().audit(shop.run)->rows == rows);
}

TEST_CASE("reports need the final gate", "[runs]") {
  const Workshop shop;
  const auto report = shop.runs().write_report(shop.run, "");

  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::wrong_stage);
  CHECK(report.error().hint == "Call check_correctness for v0.");
}

TEST_CASE("an extended run needs a hypothesis of its last version and continues", "[runs]") {
  const Workshop shop(1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  REQUIRE(shop.gate(true).passed);

  const auto view = shop.runs().extend(shop.run, 2);
  REQUIRE(view);
  CHECK(view->stage == Stage::evidenced);
  CHECK(codes(shop.gate().reasons) == std::vector<std::string>{"step_missing"});
  shop.write_hypothesis("unroll the loop");
  CHECK(shop.gate().version.text() == "v2");
}

TEST_CASE("v0 cannot be submitted again", "[runs]") {
  const Workshop shop;
  const auto granted = shop.runs().permit(shop.run, Event::submitted);

  REQUIRE_FALSE(granted);
  CHECK(granted.error().code == ErrorCode::wrong_stage);
  CHECK(granted.error().message.find("create_run") != std::string::npos);
}

TEST_CASE("submitting again supersedes the measurements and keeps the attempt", "[runs]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  shop.submit(kernel_text(11));

  CHECK(shop.status().stage == Stage::built);
  CHECK_FALSE(shop.status().versions.back().median_ns.has_value());
  for (const char* name : {"correctness.md", "ncu_summary.md", "kbs_evidence.md"})
    CHECK_FALSE(samples::fs::exists(shop.out() / "v1" / name));
  shop.check();
  shop.measure(800, 1.25, Verdict::faster);
  shop.write_evidence();
  shop.write_hypothesis("unroll the loop");
  REQUIRE(shop.gate().passed);
  // v1 was built, checked and profiled twice.
  const auto ledger = text_of(shop.out() / "ledgers/attempt-ledger.md");
  std::size_t builds = 0;
  for (auto at = ledger.find("| v1 | build |"); at != std::string::npos;
       at = ledger.find("| v1 | build |", at + 1))
    ++builds;
  CHECK(builds == 2);
}

TEST_CASE("values that a search kept are asked by all later steps, and freeze nothing", "[runs]") {
  Workshop shop;
  const auto digest = shop.status().contract_digest;
  const auto before = shop.permit(Event::checked);
  CHECK_FALSE(before.contract.found_values);
  auto report = samples::correctness(*before.candidate);
  report.search = ValueSearch{.tried = 40, .seconds = 2, .kept = {"zeros(0.9)"}};
  REQUIRE(shop.runs().record_correctness(before, report));
  CHECK(text_of(shop.out() / "v0/correctness.md").find("kept: zeros(0.9)") != std::string::npos);

  const auto granted = shop.permit(Event::profiled);
  REQUIRE(granted.contract.found_values);
  CHECK(*granted.contract.found_values == std::vector<std::string>{"zeros(0.9)"});
  auto profile = samples::profile(granted, 1000, 1, Verdict::baseline);
  profile.search = ValueSearch{.tried = 40, .kept = {"few(4)", "zeros(0.9)"}};
  REQUIRE(shop.runs().record_profile(granted, profile));
  shop.write_evidence();
  shop.write_hypothesis();
  REQUIRE(shop.gate().passed);
  shop.reopen();

  const auto later = shop.permit(Event::submitted);
  REQUIRE(later.contract.found_values);
  CHECK(*later.contract.found_values == std::vector<std::string>{"zeros(0.9)", "few(4)"});
  CHECK(shop.status().contract_digest == digest);
  CHECK(shop.status().integrity.empty());
}

TEST_CASE("a build error costs no retry and leaves the version open", "[runs]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  const auto view = shop.runs().record_build(shop.permit(Event::submitted),
                                             samples::failed_build("int x"), "first try");

  REQUIRE(view);
  CHECK(view->stage == Stage::open);
  CHECK(shop.status().versions.back().retries_used == 0);
  const auto build = text_of(shop.out() / "v1/build.md");
  CHECK(build.find("| kernel.cpp | 2 | expected ';' \\| here |") != std::string::npos);
  CHECK_FALSE(samples::fs::exists(shop.out() / "v1/kernel.cpp"));
}

TEST_CASE(
    "after the last retry a version can only be abandoned, and the next one's parent is the last "
    "correct one",
    "[runs]") {
  auto frozen = samples::contract(2);
  frozen.retries = 2;
  const Workshop shop(frozen);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(shop.runs().check_gate(shop.run, false, true));
    shop.submit(kernel_text(10 + i));
    shop.check(false);
  }
  const auto granted = shop.runs().permit(shop.run, Event::submitted);
  REQUIRE_FALSE(granted);
  CHECK(granted.error().hint ==
        "v1 has no retry left: call check_gate with abandon: true, which records it as failed.");
  CHECK(shop.status().allowed == std::vector<std::string>{"check_gate", "run_status"});

  const auto gate = shop.runs().check_gate(shop.run, false, true);
  REQUIRE(gate);
  CHECK(gate->version.text() == "v2");
  CHECK(shop.status().versions[1].stage == Stage::abandoned);
  CHECK(shop.status().versions[1].verdict == Verdict::incorrect);
  CHECK(shop.permit(Event::submitted).parent->source.text == kernel_text(0));
}

TEST_CASE("an abandoned last version still lets the run finish", "[runs]") {
  auto frozen = samples::contract(1);
  frozen.retries = 1;
  const Workshop shop(frozen);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.submit(kernel_text(1));
  shop.check(false);
  REQUIRE(shop.runs().check_gate(shop.run, false, true));
  CHECK(shop.status().stage == Stage::abandoned);

  CHECK(shop.gate(true).stage == Stage::finished);
  CHECK(shop.status().best == VersionId{0});
  CHECK(shop.runs().extend(shop.run, 1)->version.text() == "v2");
}

TEST_CASE("v0 may be checked again after a failure, until its retries are used up", "[runs]") {
  auto frozen = samples::contract(1);
  frozen.retries = 2;
  const Workshop shop(frozen);
  shop.check(false);
  CHECK(shop.status().stage == Stage::built);
  shop.check(false);

  const auto granted = shop.runs().permit(shop.run, Event::checked);
  REQUIRE_FALSE(granted);
  CHECK(granted.error().hint.find("create_run") != std::string::npos);
  CHECK(shop.status().allowed.front() == "create_run");
}

TEST_CASE("invalid timing sends a version back to open and costs a retry", "[runs]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.submit(kernel_text(1));
  shop.check();
  shop.measure(1, 1000, Verdict::invalid);

  CHECK(shop.status().stage == Stage::open);
  CHECK(shop.status().versions.back().verdict == Verdict::invalid);
  CHECK(shop.status().versions.back().retries_used == 1);
}

TEST_CASE("a slower version continues, but v0 stays the best", "[runs]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1, 0.8, Verdict::slower);
  shop.write_hypothesis("unroll the loop");

  CHECK(shop.gate().passed);
  CHECK(shop.status().best == VersionId{0});
  CHECK(shop.status().versions[1].speedup_vs_v0 == 0.8);
}

TEST_CASE("a higher ratio that the interval does not support is not the best", "[runs]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1, 1.3, Verdict::inconclusive);

  CHECK(shop.status().best == VersionId{0});
}

TEST_CASE("a version is not compared with itself, nor twice with one kernel", "[runs]") {
  const Workshop shop;
  shop.check();
  CHECK_FALSE(shop.permit(Event::profiled).parent);  // v0 has neither parent nor another v0
  CHECK_FALSE(shop.permit(Event::profiled).v0);
  shop.measure();
  shop.write_evidence();
  shop.write_hypothesis();
  REQUIRE(shop.gate().passed);
  shop.submit(kernel_text(1));
  shop.check();
  CHECK(shop.permit(Event::profiled).parent);  // v1's parent is v0
  CHECK_FALSE(shop.permit(Event::profiled).v0);
  CHECK_FALSE(shop.permit(Event::benchmarked).parent);
  CHECK(shop.permit(Event::benchmarked).v0);
  shop.measure(900, 1.1, Verdict::faster);
  shop.write_evidence();
  shop.write_hypothesis("unroll the loop");
  REQUIRE(shop.gate().passed);
  shop.submit(kernel_text(2));
  shop.check();
  CHECK(shop.permit(Event::profiled).parent->source.text == kernel_text(1));
  CHECK(shop.permit(Event::profiled).v0->source.text == kernel_text(0));
}

TEST_CASE("a benchmark of an earlier correct version is allowed by name", "[runs]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);

  CHECK(shop.runs().permit(shop.run, Event::benchmarked, VersionId{0})->version == VersionId{0});
  const auto open = shop.runs().permit(shop.run, Event::benchmarked);
  REQUIRE_FALSE(open);
  CHECK(open.error().hint.find("Call submit_kernel with the kernel of v1") == 0);
  CHECK(shop.runs().permit(shop.run, Event::benchmarked, VersionId{7}).error().code ==
        ErrorCode::not_found);
}

TEST_CASE("unknown runs are not found by any call", "[runs]") {
  const Workshop shop;
  const RunId other{"../../etc/passwd"};

  CHECK(shop.runs().status(other).error().code == ErrorCode::not_found);
  CHECK(shop.runs().permit(other, Event::checked).error().code == ErrorCode::not_found);
  CHECK(shop.runs().check_gate(other, false, false).error().code == ErrorCode::not_found);
  CHECK(shop.runs().record_query(other, "q", "", {}).error().code == ErrorCode::not_found);
}

TEST_CASE("runs are listed newest first, page by page", "[runs]") {
  const Workshop shop;
  std::vector<RunId> made{shop.run};
  for (int i = 0; i < 4; ++i) {
    auto run = shop.new_run(samples::contract());
    run.output_dir = shop.out().parent_path() / ("more" + std::to_string(i));
    made.push_back(shop.runs().create(run)->run);
  }
  std::vector<RunId> seen;
  std::optional<std::string> cursor;
  do {
    const auto page = shop.runs().list(2, cursor);
    REQUIRE(page);
    for (const auto& summary : page->runs) seen.push_back(summary.run);
    cursor = page->next_cursor;
  } while (cursor);

  CHECK(seen == std::vector<RunId>(made.rbegin(), made.rend()));
  CHECK(shop.runs().list(2, "nonsense").error().code == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ratchet
