// Memory, masking, acceptance, plateaus and promotion.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "server/runs/ledger/ledger.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::codes;
using samples::Workshop;

/// v0 … v<last-1> closed, v<last> evidenced; each `speedup` over v0.
Workshop walked(const std::vector<double>& speedups) {
  Workshop shop(static_cast<int>(speedups.size()) + 1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  int number = 0;
  for (const double speedup : speedups) {
    shop.submit(samples::kernel_text(++number));
    shop.check();
    const auto granted = shop.permit(Event::profiled);
    auto profile = samples::profile(*granted.candidate, 1000 / speedup);
    profile.verdict = Verdict::faster;
    for (const char* against : {"parent", "v0"})
      profile.comparisons.push_back(
          {against, speedup, speedup - 0.001, speedup + 0.001, 50, 0.0005, Verdict::faster});
    REQUIRE(shop.runs().record_profile(granted, profile));
    shop.write_evidence();
    shop.write_hypothesis("change " + std::to_string(number));
    REQUIRE(shop.gate().passed);
  }
  return shop;
}

bool has(const std::vector<Reason>& reasons, const std::string& code) {
  return std::ranges::find(reasons, code, &Reason::code) != reasons.end();
}

TEST_CASE("a closed version leaves a memory record in the original shape", "[memory]") {
  const auto shop = walked({1.25});
  const auto text = samples::text_of(shop.out() / "memory/v1.json");
  const auto record = Json::parse(text);

  CHECK(record["performance"]["latency_us"] == 0.8);  // 1000 ns / 1.25
  CHECK(record["performance"]["bandwidth_peak_utilization_pct"] == 80);
  CHECK(record["performance"]["comparison_with_previous"]["latency_delta"].get<double>() < 0);
  CHECK(record["optimization"]["action_description"] == "use wider loads");
  CHECK(record["correctness"]["status"] == "PASS");
  CHECK(record["quality_gate"]["result"] == "PASS");
  for (const char* key :
       {"version", "masked", "timestamp", "profile_evidence", "isa_metric_progress", "search_log",
        "pitfalls_and_fixes", "references", "git_commit_hash"})
    CHECK(record.contains(key));
}

TEST_CASE("memory is read by version and by field", "[memory]") {
  const auto shop = walked({1.25});

  const auto latency = shop.runs().read_memory(shop.run, VersionId{1}, "performance.latency_us");
  REQUIRE(latency);
  CHECK(latency->records.front().record == 0.8);
  CHECK(shop.runs().read_memory(shop.run, {}, "performance.magic").error().code ==
        ErrorCode::invalid_argument);
  CHECK(shop.runs().read_memory(shop.run, VersionId{9}, {}).error().code == ErrorCode::not_found);
}

TEST_CASE("a masked version is left out of every answer until it is unmasked", "[memory]") {
  const auto shop = walked({1.25, 1.5});
  const auto masked = shop.runs().mask(shop.run, {VersionId{1}}, true, "start afresh");
  REQUIRE(masked);

  CHECK(shop.runs().read_memory(shop.run, VersionId{1}, {}).error().code ==
        ErrorCode::not_permitted);
  CHECK_FALSE(shop.status().versions[1].median_ns);
  CHECK(shop.runs().permit(shop.run, Event::benchmarked, VersionId{1}).error().code ==
        ErrorCode::not_permitted);
  CHECK(samples::text_of(shop.out() / "memory/v1.json").find("latency") == std::string::npos);
  REQUIRE(shop.runs().mask(shop.run, {VersionId{1}}, false, "needed again"));
  CHECK(shop.status().versions[1].median_ns);
  CHECK(shop.runs().audit(shop.run)->intact);
}

TEST_CASE("analyses do not see a masked version, nor measure against one", "[memory]") {
  const auto shop = walked({1.25, 1.5, 1.4});
  REQUIRE(shop.runs().subject(shop.run, VersionId{3})->parent);
  REQUIRE(shop.runs().mask(shop.run, {VersionId{1}}, true, "start afresh"));

  // The input of roofline, compare_versions, disassemble and check_sass.
  const auto hidden = shop.runs().subject(shop.run, VersionId{1});
  REQUIRE_FALSE(hidden);
  CHECK(hidden.error().code == ErrorCode::not_permitted);
  CHECK(hidden.error().hint.find("mask_memory") != std::string::npos);
  CHECK_FALSE(shop.runs().subject(shop.run, VersionId{2})->parent);  // v1 is its parent
  REQUIRE(shop.runs().mask(shop.run, {VersionId{1}}, false, "needed again"));
  CHECK(shop.runs().subject(shop.run, VersionId{2})->parent);
}

TEST_CASE("a plan that a masked version tried is refused without naming the version", "[memory]") {
  const auto shop = walked({1.25, 1.5, 1.6});
  REQUIRE(shop.runs().mask(shop.run, {VersionId{1}}, true, "start afresh"));
  shop.submit(samples::kernel_text(1));  // v1's kernel again, with v1's plan
  shop.check();
  shop.measure(800, 1.25, Verdict::faster);
  shop.write_evidence();

  const auto again = shop.runs().write_hypothesis(shop.run, samples::hypothesis("change 1"));
  REQUIRE_FALSE(again);
  CHECK(again.error().message.find("an earlier plan already proposed this") != std::string::npos);
  CHECK(again.error().message.find("v1") == std::string::npos);
}

TEST_CASE("v0, the best and the open version cannot be masked", "[memory]") {
  const auto shop = walked({1.25, 1.5});

  for (const int number : {0, 2, 3, 9})
    CHECK(shop.runs().mask(shop.run, {VersionId{number}}, true, "x").error().code ==
          ErrorCode::invalid_argument);
}

TEST_CASE("a partial restart masks half of what may be masked, by a recorded seed", "[memory]") {
  const auto shop = walked({1.1, 1.2, 1.3, 1.4, 1.5});  // v1 … v4 may be masked

  const auto restarted = shop.runs().restart_partial(shop.run);
  REQUIRE(restarted);
  CHECK(restarted->masked.size() == 2);
  CHECK(restarted->seed->size() == 16);
  for (const auto& id : restarted->masked) CHECK((id.number >= 1 && id.number <= 4));
  CHECK(shop.status().masked == restarted->masked);
}

TEST_CASE("three versions that gain less than half a percent are a plateau", "[review]") {
  const auto climbing = walked({1.1, 1.101, 1.102, 1.2});
  CHECK_FALSE(has(climbing.status().stop, "plateau"));
  const auto flat = walked({1.2, 1.203, 1.204, 1.205});
  CHECK(has(flat.status().stop, "plateau"));
}

TEST_CASE("a stop condition is a fraction of the measured roof", "[review]") {
  auto frozen = samples::contract(2);
  const Workshop shop(frozen);
  shop.check();
  shop.measure();  // 80 % of the measured roof
  CHECK_FALSE(has(shop.status().stop, "roof_reached"));

  const Workshop other(frozen, {.stop = {.roof_fraction = 0.75}});
  other.check();
  other.measure();
  CHECK(has(other.status().stop, "roof_reached"));
}

TEST_CASE("acceptance is decided by the ledger, not by prose", "[review]") {
  const auto shop = walked({1.25});
  const auto defined = shop.runs().define_acceptance(
      shop.run, {{"be faster", "speedup >= 1.2 and correct_versions >= 2"},
                 {"be much faster", "speedup >= 3"},
                 {"read well", "review"}});
  REQUIRE(defined);
  CHECK(defined->pairs[0].state == PairState::met);
  CHECK(defined->pairs[1].state == PairState::open);
  CHECK(shop.status().open_acceptance.size() == 2);

  CHECK(shop.runs().review(shop.run, {2, ReviewVerdict::met, {"v1"}, {}}).error().code ==
        ErrorCode::invalid_argument);
  CHECK_FALSE(shop.runs().review(shop.run, {3, ReviewVerdict::met, {"v7"}, {}}));
  const auto reviewed =
      shop.runs().review(shop.run, {3, ReviewVerdict::met, {"v1", "v1/correctness.md"}, {}});
  REQUIRE(reviewed);
  CHECK(reviewed->pairs[2].state == PairState::met);
}

TEST_CASE("an unreadable criterion is refused with the accepted form", "[review]") {
  const Workshop shop;
  for (const char* criterion : {"", "speedup", "speedup >= fast", "magic >= 1", "speedup ~ 1",
                                "speedup >= 1 or geomean >= 1"}) {
    INFO(criterion);
    const auto defined = shop.runs().define_acceptance(shop.run, {{"task", criterion}});
    REQUIRE_FALSE(defined);
    CHECK(defined.error().hint.find("speedup") != std::string::npos);
  }
}

TEST_CASE("an open pair of a run on a plateau is stalled", "[review]") {
  const auto shop = walked({1.2, 1.203, 1.204, 1.205});
  const auto defined = shop.runs().define_acceptance(shop.run, {{"more", "speedup >= 3"}});

  REQUIRE(defined);
  CHECK(defined->pairs[0].state == PairState::stalled);
}

/// Speed-ups of two cases with intervals of ± `half`; `flag`: of the second.
BenchmarkReport over_cases(const Candidate& of, double first, double second, double half,
                           const std::optional<std::string>& flag = {}) {
  auto report = samples::benchmark(of, 800);
  const auto timing = report.rows.front().timing;
  const auto paired = [&](double speedup) {
    const auto verdict = speedup + half < 1   ? Verdict::slower
                         : speedup - half > 1 ? Verdict::faster
                                              : Verdict::inconclusive;
    return Comparison{"v0", speedup, speedup - half, speedup + half, 10, 0.001, verdict};
  };
  // The medians of the rows say that both cases are twice as fast.
  report.rows = {{"v0", "ok", {}, timing, 2, 2, paired(first), {{"n", 1024}}},
                 {"v0", "ok", {}, timing, 2, 2, paired(second), {{"n", 64}}}};
  if (flag) {
    auto& open = *report.rows.back().comparison;
    open.verdict = Verdict::inconclusive;
    open.speedup_mean = 0.8;
    open.flags = {{*flag}};
  }
  return report;
}

TEST_CASE("promotion needs 1.05 over W for sure, in pairs, and no slower case", "[review]") {
  const Workshop shop(samples::contract_of_two_cases());
  const auto measure = [&](double first, double second, double half = 0.002) {
    const auto granted = shop.runs().permit(shop.run, Event::benchmarked, VersionId{1});
    REQUIRE(granted);
    REQUIRE(shop.runs().record_benchmark(*granted,
                                         over_cases(*granted->candidate, first, second, half)));
    return *shop.runs().review(shop.run, {});
  };
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1, 1.25);
  CHECK_FALSE(shop.runs().review(shop.run, {})->promotable);

  const auto good = measure(1.21, 1.0);  // geometric mean 1.1
  CHECK(good.promotable);
  CHECK(std::abs(*good.geomean - 1.1) < 1e-9);
  CHECK_FALSE(measure(1.5, 0.99).promotable);
  CHECK(measure(1.5, 0.999).promotable);           // not slower: within its interval
  CHECK_FALSE(measure(1.2, 1.0, 0.1).promotable);  // 1.095, but perhaps only 1.03
  CHECK_FALSE(measure(1.04, 1.05).promotable);
}

TEST_CASE("a case that is open for how it was measured is neither promoted nor a gain",
          "[review]") {
  const Workshop shop(samples::contract_of_two_cases());
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1, 1.25);
  REQUIRE(shop.gate(true).passed);
  const auto measure = [&](const std::optional<std::string>& flag) {
    const auto granted = shop.runs().permit(shop.run, Event::benchmarked, VersionId{1});
    REQUIRE(granted);
    REQUIRE(
        shop.runs().record_benchmark(*granted, over_cases(*granted->candidate, 2, 2, 0.002, flag)));
    return *shop.runs().review(shop.run, {});
  };

  const auto doubtful = measure("bimodal");
  CHECK_FALSE(doubtful.promotable);
  CHECK(doubtful.promotion.find("call benchmark again") != std::string::npos);
  CHECK(shop.status().headline->find("inconclusive") != std::string::npos);
  CHECK(
      text_of(shop.out() / "benchmark.md").find("inconclusive (bimodal: 0.8x by trimmed means)") !=
      std::string::npos);
  CHECK(measure({}).promotable);
}

/// v<number>, with the verdict of its profile against the best version before it.
void challenge(const Workshop& shop, int number, double speedup, const std::string& best,
               Verdict against_best, double over_best) {
  shop.submit(samples::kernel_text(number));
  shop.check();
  const auto granted = shop.permit(Event::profiled);
  auto profile = samples::profile(*granted.candidate, 1000 / speedup);
  profile.verdict = Verdict::faster;
  profile.best_version = best;
  for (const char* against : {"parent", "v0"})
    profile.comparisons.push_back(
        {against, speedup, speedup - 0.001, speedup + 0.001, 50, 0.0005, Verdict::faster});
  profile.comparisons.push_back(
      {"best", over_best, over_best - 0.001, over_best + 0.001, 50, 0.0005, against_best});
  REQUIRE(shop.runs().record_profile(granted, profile));
  shop.write_evidence();
  shop.write_hypothesis("change " + std::to_string(number));
  REQUIRE(shop.gate().passed);
}

TEST_CASE("the best version changes only by a verdict against the best version", "[review]") {
  Workshop shop(6);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  challenge(shop, 1, 1.30, "v0", Verdict::faster, 1.30);
  CHECK(shop.status().best == VersionId{1});
  // A luckier figure against v0, and the same kernel as the best one.
  challenge(shop, 2, 1.34, "v1", Verdict::same, 1.001);
  CHECK(shop.status().best == VersionId{1});
  // A poorer figure against v0, and faster than the best one beside it.
  challenge(shop, 3, 1.29, "v1", Verdict::faster, 1.02);
  CHECK(shop.status().best == VersionId{3});
}

TEST_CASE("the page of a run holds its plots and loads nothing from outside", "[report]") {
  auto shop = walked({1.25, 1.5});
  shop.finish_version(3, 1.6);
  REQUIRE(shop.gate(true).passed);
  REQUIRE(shop.runs().write_report(shop.run, "It <b>went</b> well."));
  const auto page = samples::text_of(shop.out() / "report.html");

  for (const char* part : {"<svg", "Median time of every version", "prefers-color-scheme: dark",
                           "Integrity", "use wider loads", "technique-vectorized-loads"}) {
    INFO(part);
    CHECK(page.find(part) != std::string::npos);
  }
  CHECK(page.find("It &lt;b&gt;went") != std::string::npos);
  for (const char* part : {"http://", "https://", "<script", "src=", "@import"}) {
    INFO(part);
    CHECK(page.find(part) == std::string::npos);
  }
}

TEST_CASE("the page of a run shows the seal of the last row that it was made from", "[report]") {
  auto shop = walked({1.25});
  shop.finish_version(2, 1.5);
  REQUIRE(shop.gate(true).passed);
  REQUIRE(shop.runs().write_report(shop.run, "It went well."));
  const auto page = samples::text_of(shop.out() / "report.html");

  const auto ledger = Ledger::open(shop.state(), false);
  REQUIRE(ledger);
  const auto rows = (*ledger)->rows(shop.run);
  REQUIRE(rows);
  const auto& before = rows->at(rows->size() - 2);  // the last row is the page's own
  CHECK(page.find("the seal of row " + std::to_string(before.sequence) + " begins <code>" +
                  before.seal.substr(0, 16) + "</code>") != std::string::npos);
}

TEST_CASE("a fork starts from a version's kernel under the same contract", "[runs]") {
  const auto shop = walked({1.25});
  const ForkOrigin origin{shop.run, VersionId{1}};

  const auto source = shop.runs().fork_source(origin);
  REQUIRE(source);
  CHECK(source->contract.kernel.text == samples::kernel_text(1));
  auto forked = shop.new_run(source->contract);
  forked.output_dir = shop.out().parent_path() / "fork";
  forked.forked_from = origin;
  const auto made = shop.runs().create(forked);
  REQUIRE(made);
  CHECK(samples::text_of(forked.output_dir / "contract.json").find(shop.run.text) !=
        std::string::npos);
  CHECK(shop.runs().fork_source({shop.run, VersionId{2}}).error().code == ErrorCode::wrong_stage);
}

TEST_CASE("a run lists what makes its claims weak", "[runs]") {
  auto frozen = samples::contract(1);
  frozen.seed_given = true;
  const Workshop shop(frozen);

  CHECK(shop.status().claim == "weak");
  CHECK(codes(shop.status().weaknesses) == std::vector<std::string>{"fixed_seed"});
  CHECK(Workshop(1).status().claim == "strong");
}

}  // namespace
}  // namespace ratchet
