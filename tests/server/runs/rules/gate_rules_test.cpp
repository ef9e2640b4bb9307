// Each rule of the gate is broken alone and must be reported with its own code.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>

#include "server/runs/ledger/run_store.h"
#include "server/runs/rules/gate_rules.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::codes;

/// A run whose v1 is hypothesized and may pass.
RunState ready() {
  auto frozen = samples::contract(3);
  frozen.work = Work{"8*n", "n", DType::f32};
  const samples::Workshop shop(frozen);
  const auto measure = [&](double median, Verdict verdict) {
    const auto granted = shop.permit(Event::profiled);
    auto profile = samples::profile(granted, median, 1.25, verdict);
    profile.metrics["achieved_flops_per_s"] = 1e9;
    REQUIRE(shop.runs().record_profile(granted, profile));
  };
  shop.check();
  measure(1000, Verdict::baseline);
  shop.write_evidence();
  shop.write_hypothesis();
  REQUIRE(shop.gate().passed);
  shop.submit(samples::kernel_text(1));
  shop.check();
  measure(800, Verdict::faster);
  shop.write_evidence();
  shop.write_hypothesis("unroll the loop");
  const auto store = RunStore::open(shop.state(), false);
  REQUIRE(store);
  return *(*store)->load(shop.run)->state;
}

/// Makes the queries of this purpose ones without a purpose.
void drop_purpose(RunState& state, std::string_view purpose) {
  for (auto& query : state.queries) {
    if (query->fact.purpose != purpose) continue;
    auto changed = *query;
    changed.fact.purpose.clear();
    query = std::make_shared<const LoggedQuery>(std::move(changed));
  }
}

struct Rule {
  const char* code;
  std::function<void(RunState& state, VersionState& open)> break_it;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      {"last_version", [](RunState& state, VersionState&) { state.iterations = 1; }},
      {"environment_missing",
       [](RunState& state, VersionState&) { state.artifacts.erase("env_check.md"); }},
      {"step_missing", [](RunState&, VersionState& open) { open.hypothesis.reset(); }},
      {"not_correct", [](RunState&, VersionState& open) { open.correctness->passed = false; }},
      {"case_unchecked",
       [](RunState& state, VersionState&) {
         state.contract.contract.cases.push_back({{{"n", 77}}, 1, false});
       }},
      {"profile_of_other_binary",
       [](RunState&, VersionState& open) { open.profile->candidate_digest = "another"; }},
      {"profile_incomplete",
       [](RunState&, VersionState& open) { open.profile->metrics.erase("achieved_flops_per_s"); }},
      {"evidence_before_profile",
       [](RunState&, VersionState& open) { open.evidence_sequence = 1; }},
      {"label_changed",
       [](RunState&, VersionState& open) {
         open.evidence->selected.front().confidence = "verified";
       }},
      {"facts_missing", [](RunState&, VersionState& open) { open.evidence->facts.clear(); }},
      {"unknown_metric",
       [](RunState&, VersionState& open) { open.evidence->facts.front().metric = "magic"; }},
      {"selected_missing",
       [](RunState&, VersionState& open) {
         open.evidence->selected.clear();
         open.hypothesis->evidence.clear();
       }},
      {"query_not_logged",
       [](RunState&, VersionState& open) { open.evidence->selected.front().query_id = "q"; }},
      {"document_not_returned",
       [](RunState&, VersionState& open) { open.evidence->selected.front().id = "page"; }},
      {"text_missing", [](RunState&, VersionState& open) { open.evidence->decision_link = " "; }},
      {"no_kernel_query", [](RunState& state, VersionState&) { drop_purpose(state, "kernel"); }},
      {"no_bottleneck_query",
       [](RunState& state, VersionState&) { drop_purpose(state, "bottleneck"); }},
      {"bad_category", [](RunState&, VersionState& open) { open.hypothesis->category = "a b"; }},
      {"several_changes",
       [](RunState&, VersionState& open) { open.hypothesis->change = "- one\n- two"; }},
      {"expected_missing",
       [](RunState&, VersionState& open) { open.hypothesis->expected.clear(); }},
      {"bad_direction",
       [](RunState&, VersionState& open) { open.hypothesis->expected.front().direction = "left"; }},
      {"evidence_missing",
       [](RunState&, VersionState& open) { open.hypothesis->evidence.clear(); }},
      {"evidence_not_selected",
       [](RunState&, VersionState& open) { open.hypothesis->evidence = {"another-page"}; }},
      {"duplicate_plan",
       [](RunState& state, VersionState& open) {
         open.hypothesis->change = state.versions[0].hypothesis->change;
         open.build->stripped_digest = state.versions[0].build->stripped_digest;
       }},
      {"kernel_unchanged",
       [](RunState& state, VersionState& open) {
         open.build->stripped_digest = state.versions[0].build->stripped_digest;
       }},
  };
  return all;
}

TEST_CASE("a version that meets every rule has no reasons", "[gate]") {
  CHECK(codes(transition_reasons(ready(), {}, {})).empty());
}

TEST_CASE("every broken rule is reported with its own code", "[gate]") {
  const auto whole = ready();
  for (const auto& rule : rules()) {
    INFO(rule.code);
    RunState state = whole;
    rule.break_it(state, state.versions.back());
    const auto found = codes(transition_reasons(state, {}, {}));
    CHECK(std::ranges::find(found, rule.code) != found.end());
  }
}

TEST_CASE("findings on disk and in the chain are among the reasons", "[gate]") {
  const Reason changed{"artifact_changed", "a file", "v1/build.md"};
  const Reason broken{"chain_broken", "a row", {}};

  CHECK(codes(transition_reasons(ready(), {changed}, broken)) ==
        std::vector<std::string>{"chain_broken", "artifact_changed"});
}

TEST_CASE("the final gate checks every version again", "[gate]") {
  auto state = ready();
  state.iterations = 1;
  CHECK(codes(final_reasons(state, {}, {})).empty());

  state.versions.front().correctness->passed = false;
  const auto found = final_reasons(state, {}, {});
  REQUIRE(codes(found) == std::vector<std::string>{"not_correct"});
  CHECK(found.front().path == "v0/correctness.md");
}

}  // namespace
}  // namespace ratchet
