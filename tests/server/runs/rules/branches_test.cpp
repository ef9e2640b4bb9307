// Explorations: which branch becomes the version's kernel, and what is kept of the others.

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "server/runs/rules/attribution.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::branch;
using samples::Workshop;

std::vector<ProposedMethod> proposal() {
  return {{"memory.kernel_fusion", {}}, {"memory.coalesced_access", {}}};
}

Workshop proposed() {
  Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  REQUIRE(shop.runs().propose_methods(shop.run, proposal())->accepted);
  return shop;
}

BranchesAnswer explored(const Workshop& shop, std::vector<BranchResult> branches) {
  const auto granted = shop.permit(Event::explored);
  auto answer = shop.runs().record_branches(
      granted, {granted.incumbent_version, std::move(branches), std::nullopt, ""});
  REQUIRE(answer);
  return *answer;
}

TEST_CASE("branches need accepted methods", "[branches]") {
  Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);

  const auto granted = shop.runs().permit(shop.run, Event::explored);
  REQUIRE_FALSE(granted);
  CHECK(granted.error().hint.find("propose_methods") != std::string::npos);
}

TEST_CASE("a champion becomes the version's kernel, checked and ready to be profiled",
          "[branches]") {
  const auto shop = proposed();
  const auto text = samples::kernel_text(7);

  const auto answer =
      explored(shop, {branch("b1", samples::kernel_text(6), 1.1), branch("b2", text, 1.4)});

  CHECK(answer.champion == "b2");
  CHECK(answer.stage == Stage::correct);
  CHECK(samples::text_of(shop.out() / "v1/kernel.cpp") == text);
  CHECK(samples::fs::exists(shop.out() / "v1/correctness.md"));
  CHECK(samples::fs::exists(shop.out() / "v1/branches/b1/kernel.cpp"));
  CHECK(answer.frontier.size() == 1);
  shop.measure(700, 1.4, Verdict::faster);
  shop.write_evidence();
  shop.write_hypothesis("unroll the loop");
  CHECK(shop.gate().passed);
  CHECK(shop.runs().audit(shop.run)->intact);
}

TEST_CASE("if no branch is faster beyond the noise, the version stays open and no retry is used",
          "[branches]") {
  const auto shop = proposed();

  const auto answer = explored(shop, {branch("b1", samples::kernel_text(6), 1.001)});

  CHECK_FALSE(answer.champion);
  CHECK(answer.stage == Stage::open);
  CHECK(shop.status().versions.back().retries_used == 0);
  CHECK(shop.status().frontier.size() == 1);
}

TEST_CASE(
    "an exploration without a working branch costs one retry; compiler errors alone cost none",
    "[branches]") {
  const auto shop = proposed();
  auto broken = branch("b1", "x", 1, false);
  broken.candidate = samples::failed_build("x");
  broken.correctness.reset();

  explored(shop, {broken});
  CHECK(shop.status().versions.back().retries_used == 0);
  explored(shop, {broken, branch("b2", samples::kernel_text(8), 1, false)});
  CHECK(shop.status().versions.back().retries_used == 1);
}

TEST_CASE("of two champions with overlapping intervals the smaller change wins", "[branches]") {
  BranchesFact fact;
  fact.branches = {branch("b1", "a", 1.30), branch("b2", "b", 1.29)};
  fact.branches[0].diff_lines = 40;
  fact.branches[1].diff_lines = 3;

  decide(fact);
  CHECK(fact.champion == "b2");  // intervals 1.29 … 1.31 and 1.28 … 1.30 overlap

  fact.branches[0].confirmation->ci_low = 1.305;
  fact.branches[0].confirmation->ci_high = 1.31;
  decide(fact);
  CHECK(fact.champion == "b1");
}

TEST_CASE("a branch that was only screened cannot be champion", "[branches]") {
  BranchesFact fact;
  fact.branches = {branch("b1", "a", 2)};
  fact.branches[0].confirmation.reset();

  decide(fact);
  CHECK_FALSE(fact.champion);
  CHECK(fact.branches[0].status == BranchStatus::frontier);
}

TEST_CASE("the two that screened fastest are confirmed", "[branches]") {
  const std::vector<BranchResult> branches{branch("b1", "a", 1.1), branch("b2", "b", 1, false),
                                           branch("b3", "c", 1.3), branch("b4", "d", 1.2)};

  CHECK(finalists(branches) == std::vector<std::size_t>{2, 3});
}

TEST_CASE("differing lines are those outside the longest common subsequence", "[branches]") {
  CHECK(diff_lines("a\nb\nc\n", "a\nb\nc\n") == 0);
  CHECK(diff_lines("a\nb\nc\n", "a\nx\nc\n") == 2);  // b removed, x added
  CHECK(diff_lines("a\nb\n", "b\na\n") == 2);
  CHECK(diff_lines("", "a\n") == 1);
  CHECK(diff_lines("a  \nb", "a\nb\n") == 0);  // blanks at the end of lines do not count
}

AblatedBuild without(std::vector<std::string> ids, double median_ns, double ratio,
                     Verdict verdict) {
  AblatedBuild build;
  build.without = std::move(ids);
  build.build.ok = true;
  build.build.binary_digest = "other";
  build.correct = true;
  build.timing.emplace().median = {median_ns};
  build.comparison = Comparison{"whole", ratio, ratio - 0.008, ratio + 0.008, 20, 0.005, verdict};
  return build;
}

const std::string kA = "memory.tiling_smem";
const std::string kB = "memory.bank_conflict";

AblationFact ablation() {
  AblationFact fact;
  fact.candidate_digest = "whole";
  fact.whole.median = {1000};
  fact.builds = {without({kA}, 1500, 1.5, Verdict::faster),
                 without({kB}, 1100, 1.0, Verdict::same),  // drifted: only pairs count

                 without({kA, kB}, 1700, 1.7, Verdict::faster)};
  return fact;
}

TEST_CASE("an ablation shows what each method saves, alone and together", "[ablation]") {
  auto fact = ablation();
  attribute(fact, {kA, kB}, {.improved = true});

  CHECK(fact.attribution[0].verdict == MethodClass::effective);
  CHECK(std::abs(*fact.attribution[0].delta_ns - 500) < 1e-6);
  CHECK(std::abs(*fact.attribution[0].alone_ns - 700) < 1e-6);  // 1.7 − 1.0: only A is on
  CHECK(std::abs(*fact.attribution[0].alone_low_ns - 684) < 1e-6);
  CHECK(std::abs(*fact.attribution[0].alone_high_ns - 716) < 1e-6);
  CHECK(fact.attribution[1].verdict == MethodClass::ineffective);
  CHECK(std::abs(*fact.attribution[1].alone_ns - 200) < 1e-6);
  CHECK(std::abs(*fact.interaction_ns - 200) < 1e-6);  // 700 together, 500 + 0 one by one
  CHECK(std::abs(*fact.interaction_low_ns - 176) < 1e-6);
  CHECK(std::abs(*fact.interaction_high_ns - 224) < 1e-6);
}

TEST_CASE("what methods contribute alone and together is taken from differences within rounds",
          "[ablation]") {
  auto fact = ablation();
  // Builds that take 1.5, 1.1 and 1.7 times as long, all of them in the same rounds slower: of each
  // round 1.7 − 1.1 = 0.6, and 1.7 + 1 − 1.5 − 1.1 = 0.1, within ± 0.004 and ± 0.0005.
  for (int i = -8; i <= 8; ++i) {
    fact.builds[0].rounds.push_back(1.5 + 0.01 * i);
    fact.builds[1].rounds.push_back(1.1 + 0.01 * i);
    fact.builds[2].rounds.push_back(1.7 + 0.0205 * i);
  }
  fact.builds[2].rounds[3] = 0;  // a round that it has no time of counts for none
  attribute(fact, {kA, kB}, {.improved = true});

  CHECK(std::abs(*fact.attribution[0].alone_ns - 600) < 10);
  CHECK(std::abs(*fact.interaction_ns - 100) < 1);
  CHECK(*fact.interaction_high_ns - *fact.interaction_low_ns < 8);
  CHECK(*fact.interaction_low_ns < 100);
  CHECK(*fact.interaction_high_ns > 100);
}

TEST_CASE("a method that may still save more than 1 % is not called ineffective", "[ablation]") {
  auto fact = ablation();
  // On a noisy device "same" may mean within 5 %.
  fact.builds[1].comparison->ci_high = 1.03;
  attribute(fact, {kA, kB}, {.improved = true});

  CHECK(fact.attribution[1].verdict == MethodClass::inconclusive);
  CHECK(fact.attribution[1].why.find("3.0 %") != std::string::npos);
}

TEST_CASE("a branch that was dropped while it was screened is not called incorrect", "[branches]") {
  BranchesFact fact;
  fact.branches.resize(2);
  for (auto& branch : fact.branches) branch.candidate.build.ok = true;
  fact.branches[1].reasons.push_back({"timed_output_wrong", "wrong", {}});
  decide(fact);

  CHECK(fact.branches[0].status == BranchStatus::screened_out);
  CHECK(fact.branches[1].status == BranchStatus::failed);
}

TEST_CASE("a method is not effective if the version is not faster", "[ablation]") {
  auto fact = ablation();
  attribute(fact, {kA, kB}, {.improved = false});

  CHECK(fact.attribution[0].verdict == MethodClass::ineffective);
}

TEST_CASE("a macro that breaks the build or changes nothing proves nothing", "[ablation]") {
  auto fact = ablation();
  fact.builds[0].correct = false;
  fact.builds[1].build.binary_digest = "whole";
  attribute(fact, {kA, kB}, {.improved = true});

  CHECK(fact.attribution[0].verdict == MethodClass::inconclusive);
  CHECK(fact.attribution[1].verdict == MethodClass::inconclusive);
  CHECK(fact.attribution[1].why.find("same binary") != std::string::npos);
  CHECK_FALSE(fact.interaction_ns);
}

TEST_CASE("on a GPU a method is effective only if the machine code shows it", "[ablation]") {
  auto fact = ablation();  // tiling_smem has a signature, bank_conflict has none
  attribute(fact, {kA, kB}, {.improved = true, .on_gpu = true});
  CHECK(fact.attribution[0].verdict == MethodClass::inconclusive);
  CHECK(fact.attribution[1].verdict == MethodClass::ineffective);

  attribute(fact, {kA, kB}, {.improved = true, .on_gpu = true, .signatures = {{kA, "absent"}}});
  CHECK(fact.attribution[0].verdict == MethodClass::implementation_failed);
  attribute(fact, {kA, kB}, {.improved = true, .on_gpu = true, .signatures = {{kA, "verified"}}});
  CHECK(fact.attribution[0].verdict == MethodClass::effective);
}

TEST_CASE("an ablation is recorded for a profiled version and never changes its stage",
          "[ablation]") {
  const auto shop = proposed();
  shop.submit(samples::kernel_text(3));
  CHECK_FALSE(shop.runs().permit(shop.run, Event::ablated));
  shop.check();
  shop.measure(800, 1.25, Verdict::faster);
  const auto granted = shop.permit(Event::ablated);
  CHECK(granted.methods.size() == 2);
  auto fact = ablation();
  fact.candidate_digest = granted.candidate->build.binary_digest;

  const auto answer = shop.runs().record_ablation(granted, fact);

  REQUIRE(answer);
  CHECK(answer->stage == Stage::profiled);
  CHECK(samples::fs::exists(shop.out() / "v1/ablations/memory_tiling_smem/ablation.json"));
  INFO(samples::text_of(shop.out() / "v1/analysis.md"));
  CHECK(samples::text_of(shop.out() / "v1/analysis.md").find("Interaction (ns): 200") !=
        std::string::npos);
}

}  // namespace
}  // namespace ratchet
