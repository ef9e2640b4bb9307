// Evidence and hypotheses are checked against what was measured and logged.

#include <catch2/catch_test_macros.hpp>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::Workshop;

Workshop profiled() {
  Workshop shop;
  shop.check();
  shop.measure();
  return shop;
}

Error evidence_error(const Workshop& shop, const EvidenceRequest& request) {
  const auto written = shop.runs().write_evidence(shop.run, request);
  REQUIRE_FALSE(written);
  CHECK_FALSE(samples::fs::exists(shop.out() / "v0/kbs_evidence.md"));
  return written.error();
}

Error hypothesis_error(const Workshop& shop, const Hypothesis& hypothesis) {
  const auto written = shop.runs().write_hypothesis(shop.run, hypothesis);
  REQUIRE_FALSE(written);
  return written.error();
}

bool mentions(const Error& error, const std::string& text) {
  INFO(error.message);
  return error.message.find(text) != std::string::npos;
}

TEST_CASE("a document is citable only from the query that returned it", "[runs][prose]") {
  const auto shop = profiled();
  shop.query();
  auto request = samples::evidence();
  request.selected[0].query_id = "q-bottleneck";

  const auto error = evidence_error(shop, request);
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(mentions(error,
                 "selected[0].id: query q-bottleneck returned no page "
                 "\"technique-vectorized-loads\""));
}

TEST_CASE("a query that was never logged cannot be cited", "[runs][prose]") {
  const auto shop = profiled();
  shop.query();
  auto request = samples::evidence();
  request.selected[1].query_id = "q-invented";

  CHECK(mentions(evidence_error(shop, request),
                 "\"q-invented\" is not the id of a query of this run"));
}

TEST_CASE("the bottleneck is looked up after the profile, not before", "[runs][prose]") {
  const Workshop shop;
  shop.query();
  shop.check();
  shop.measure();

  const auto error = evidence_error(shop, samples::evidence());
  CHECK(mentions(error, "purpose \"bottleneck\""));
  CHECK_FALSE(mentions(error, "purpose \"kernel\""));
  shop.write_evidence();
}

TEST_CASE("queries of an earlier version do not count for this one", "[runs][prose]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.submit(samples::kernel_text(1));
  shop.check();
  shop.measure();
  const auto written = shop.runs().write_evidence(shop.run, samples::evidence());

  REQUIRE_FALSE(written);
  CHECK(mentions(written.error(), "v1 has no logged query with purpose \"kernel\""));
  CHECK(mentions(written.error(), "v1 has no logged query with purpose \"bottleneck\""));
}

TEST_CASE("an unknown metric is refused with a list of the known ones", "[runs][prose]") {
  const auto shop = profiled();
  shop.query();
  auto request = samples::evidence();
  request.facts = {"dram__throughput"};

  const auto error = evidence_error(shop, request);
  CHECK(mentions(error, "facts[0]: \"dram__throughput\" is not a metric of the profile of v0"));
  CHECK(mentions(error, "achieved_bytes_per_s, median_ns"));
}

TEST_CASE("all problems of a request are reported at once", "[runs][prose]") {
  const auto shop = profiled();
  const auto error = evidence_error(shop, {{}, {}, {}, "  "});

  for (const char* part : {"facts:", "selected:", "decision_link:", "\"kernel\"", "\"bottleneck\""})
    CHECK(mentions(error, part));
}

TEST_CASE("an unknown purpose is refused", "[runs][prose]") {
  const Workshop shop;
  const auto logged =
      shop.runs().record_query(shop.run, "q", "curiosity", samples::answer("q", {}));

  REQUIRE_FALSE(logged);
  CHECK(logged.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("values and confidence labels in the evidence are the server's", "[runs][prose]") {
  const auto shop = profiled();
  shop.write_evidence();

  const auto text = samples::text_of(shop.out() / "v0/kbs_evidence.md");
  CHECK(text.find("`median_ns` = 1000") != std::string::npos);
  CHECK(text.find("| technique-vectorized-loads | wiki/technique-vectorized-loads.md:3 | "
                  "source-reported | loads are scalar |") != std::string::npos);
}

TEST_CASE("prose cannot add headings to an artifact", "[runs][prose]") {
  const auto shop = profiled();
  shop.query();
  auto request = samples::evidence();
  request.decision_link = "first\n## Queries\n| forged |";
  REQUIRE(shop.runs().write_evidence(shop.run, request));

  const auto text = samples::text_of(shop.out() / "v0/kbs_evidence.md");
  CHECK(text.find("\n## Queries", text.find("## Queries") + 1) == std::string::npos);
}

TEST_CASE("a hypothesis needs evidence first", "[runs][prose]") {
  const auto shop = profiled();
  const auto error = hypothesis_error(shop, samples::hypothesis());

  CHECK(error.code == ErrorCode::wrong_stage);
  CHECK(error.hint.find("Call query_kbs with run and purpose: kernel") == 0);
}

TEST_CASE("a hypothesis proposes one change, in one category", "[runs][prose]") {
  const auto shop = profiled();
  shop.write_evidence();
  auto hypothesis = samples::hypothesis("- tile the loop\n- unroll it");
  hypothesis.category = "memory and compute";

  const auto error = hypothesis_error(shop, hypothesis);
  CHECK(mentions(error, "change: it lists several changes"));
  CHECK(mentions(error, "category: must be one word"));
}

TEST_CASE("a hypothesis rests on selected documents and existing metrics", "[runs][prose]") {
  const auto shop = profiled();
  shop.write_evidence();
  auto hypothesis = samples::hypothesis();
  hypothesis.evidence = {"technique-tiling"};
  hypothesis.expected = {{"occupancy", "sideways", {}}};

  const auto error = hypothesis_error(shop, hypothesis);
  CHECK(mentions(error, "evidence[0]: page \"technique-tiling\" is not among those"));
  CHECK(mentions(error, "expected[0].metric: \"occupancy\" is not a metric"));
  CHECK(mentions(error, "expected[0].direction: must be up, down or same, got \"sideways\""));
}

TEST_CASE("the same change is not tried twice on the same kernel", "[runs][prose]") {
  const Workshop shop(3);
  shop.finish_v0();  // proposes "use wider loads" for v0's kernel
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  shop.write_hypothesis("Use wider loads!");  // another kernel: allowed
  REQUIRE(shop.gate().passed);
  shop.submit("/* back */ " + samples::kernel_text(0));  // v0's kernel again
  shop.check();
  shop.measure(1000, 0.9, Verdict::slower);
  shop.write_evidence();

  const auto error = hypothesis_error(shop, samples::hypothesis("use  WIDER loads"));
  CHECK(mentions(error, "change: v0 already proposed this change for the same kernel"));
}

TEST_CASE("a version whose kernel differs only in comments and blanks does not pass",
          "[runs][prose]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.submit("// tuned\n\n" + samples::kernel_text(0));
  shop.check();
  shop.measure(1000, 1.0, Verdict::same);
  shop.write_evidence();
  shop.write_hypothesis("unroll the loop");

  CHECK(samples::codes(shop.gate().reasons) == std::vector<std::string>{"kernel_unchanged"});
}

TEST_CASE("the gate lists every missing step at once", "[runs][prose]") {
  const Workshop shop;
  const auto reasons = shop.gate().reasons;

  CHECK(samples::codes(reasons) == std::vector<std::string>(4, "step_missing"));
  CHECK(reasons[0].message == "v0/correctness.md is missing; check_correctness writes it");
  CHECK(reasons[1].message == "v0/ncu_summary.md is missing; profile_kernel writes it");
  CHECK(reasons[2].message == "v0/kbs_evidence.md is missing; write_kbs_evidence writes it");
  CHECK(reasons[3].message == "v0/hypothesis.txt is missing; write_hypothesis writes it");
}

TEST_CASE("new evidence removes the hypothesis", "[runs][prose]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.runs().write_evidence(shop.run, samples::evidence()));

  CHECK(shop.status().stage == Stage::evidenced);
  CHECK_FALSE(samples::fs::exists(shop.out() / "v0/hypothesis.txt"));
}

TEST_CASE("a hardware figure enters a run as a citation of the knowledge base", "[runs][prose]") {
  const auto shop = profiled();
  shop.query();
  auto request = samples::evidence();
  const std::string cited =
      "hw-board: dram_bandwidth: 4.8 TB/s <- docs/hw/board.md:12 (peak, datasheet)";
  request.specs = {{"board", "dram_bandwidth", {cited}},
                   {"board", "tdp", {"board: tdp: UNKNOWN (gpu-wiki not found)"}}};
  REQUIRE(shop.runs().write_evidence(shop.run, request));

  const auto page = samples::text_of(shop.out() / "v0/kbs_evidence.md");
  CHECK(page.find("- " + cited) != std::string::npos);
  CHECK(page.find("UNKNOWN (gpu-wiki not found)") < page.find("## Rejected / Limits"));
}

TEST_CASE("a figure with a typed source is refused in every field", "[runs][prose]") {
  const auto shop = profiled();
  shop.query();
  const std::string typed = "bandwidth: 9.9 TB/s <- docs/hw/board.md:12";
  auto request = samples::evidence();
  request.decision_link = typed;
  CHECK(mentions(evidence_error(shop, request), "spec_by_hand: decision_link"));
  request = samples::evidence();
  request.selected.front().applies_because = typed;
  CHECK(mentions(evidence_error(shop, request), "spec_by_hand: selected[0].applies_because"));
  REQUIRE(shop.runs().write_evidence(shop.run, samples::evidence()));

  auto hypothesis = samples::hypothesis();
  hypothesis.rationale = typed;
  CHECK(mentions(hypothesis_error(shop, hypothesis), "spec_by_hand: rationale"));
  hypothesis.rationale = "x <- y is an assignment";
  CHECK(shop.runs().write_hypothesis(shop.run, hypothesis));
}

}  // namespace
}  // namespace ratchet
