#include "kernels/diagnosis/verification.h"

#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

namespace {

DiagnosisFinding finding(const std::string& name, double headroom) {
  DiagnosisFinding one;
  one.id = "pattern-" + name;
  one.title = name;
  one.evidence = "numbers";
  one.headroom = headroom;
  return one;
}

Diagnosis diagnosed(std::vector<DiagnosisFinding> findings) {
  Diagnosis diagnosis;
  diagnosis.bound = Bound::occupancy;
  diagnosis.bound_evidence = "rules";
  diagnosis.findings = std::move(findings);
  return diagnosis;
}

Diagnosis held(std::vector<DiagnosisFinding> findings, std::vector<Intervention> interventions) {
  auto diagnosis = diagnosed(std::move(findings));
  verify(interventions, diagnosis);
  return diagnosis;
}

/// With an interval of two points to each side.
Intervention one(Condition condition, const std::string& what, double saved) {
  return {.condition = condition,
          .what = what,
          .saved = saved,
          .low = saved - 0.02,
          .high = saved + 0.02};
}

Intervention halved(const std::string& dim, double saved) {
  return one(Condition::halved_dim, dim + " halved", saved);
}

Intervention fewer_blocks(double saved) {
  return one(Condition::fewer_blocks, "half of the resident blocks", saved);
}

Intervention register_cap(double saved) {
  return one(Condition::register_cap, "a cap of 64 registers", saved);
}

Intervention any_order(double saved, bool more_vectors) {
  auto changed = one(Condition::any_order, "arithmetic in any order", saved);
  changed.refutes = false;
  changed.more_vectors = more_vectors;
  return changed;
}

Intervention fewer_processors(double saved) {
  return one(Condition::fewer_processors, "half of the processors", saved);
}

/// Of a finding alone.
DiagnosisFinding tested(const std::string& name, std::vector<Intervention> interventions) {
  return held({finding(name, 0.5)}, std::move(interventions)).findings.front();
}

}  // namespace

TEST_CASE("a finding whose cause was removed with a gain is confirmed, and the class follows it",
          "[diagnosis][verify]") {
  const auto diagnosis = held({finding("small-grid", 0.9), finding("dram-bound-latency", 0.2)},
                              {{.condition = Condition::warm_caches,
                                .what = "warm caches",
                                .saved = 0.41,
                                .low = 0.39,
                                .high = 0.43}});

  REQUIRE(diagnosis.findings.size() == 2);
  CHECK(diagnosis.findings[0].id == "pattern-dram-bound-latency");
  CHECK(diagnosis.findings[0].evidence == "confirmed: warm caches save 41 % (39..43); numbers");
  CHECK(diagnosis.findings[0].headroom == 0.41);
  CHECK(diagnosis.findings[1].evidence == "numbers");
  CHECK(diagnosis.bound == Bound::memory);
  CHECK(diagnosis.bound_evidence.ends_with("rules; warm caches save 41 % (39..43)"));
}

TEST_CASE("a finding whose cause was removed without a gain comes last and keeps no headroom",
          "[diagnosis][verify]") {
  const auto diagnosis = held({finding("host-cache-miss", 0.8), finding("host-scalar-loop", 0.3)},
                              {{.condition = Condition::warm_caches,
                                .what = "warm caches",
                                .saved = 0.01,
                                .low = -0.01,
                                .high = 0.03}});

  CHECK(diagnosis.findings[0].id == "pattern-host-scalar-loop");
  CHECK(diagnosis.findings[1].evidence == "not confirmed: warm caches save 1 % (-1..3); numbers");
  CHECK(diagnosis.findings[1].headroom == 0.01);
  CHECK(diagnosis.bound == Bound::occupancy);
}

TEST_CASE("what an intervention leaves open keeps its place, its headroom and the class",
          "[diagnosis][verify]") {
  const auto diagnosis =
      held({finding("host-memory-bandwidth", 0.6), finding("host-scalar-loop", 0.3)},
           {{.condition = Condition::warm_caches,
             .what = "warm caches",
             .saved = 0.08,
             .low = 0.02,
             .high = 0.14}});

  CHECK(diagnosis.findings[0].evidence.starts_with("undecided: warm caches save 8 % (2..14)"));
  CHECK(diagnosis.findings[0].headroom == 0.6);
  CHECK(diagnosis.bound == Bound::occupancy);
}

TEST_CASE("a cost per call is confirmed by sizes that do not matter, and refuted by one that does",
          "[diagnosis][verify]") {
  const auto rows = halved("rows", 0.02);
  const auto half = halved("cols", 0.49);

  const auto fixed = held({finding("launch-bound", 0.5)}, {rows});
  CHECK(fixed.bound == Bound::launch);
  CHECK(fixed.findings[0].evidence.starts_with("confirmed: rows halved saves only 2 % (0..4)"));

  const auto proportional = held({finding("launch-bound", 0.5)}, {rows, half});
  CHECK(proportional.bound == Bound::occupancy);
  CHECK(proportional.findings[0].evidence.starts_with(
      "not confirmed: cols halved saves 49 % (47..51)"));

  // With half of the rows an interpreter takes half of the steps: it may cost all the same.
  auto steps = halved("rows", 0.49);
  steps.refutes = false;
  CHECK(tested("host-interpreter", {steps}).outcome == FindingOutcome::undecided);
}

TEST_CASE("an intervention says nothing about causes that it does not remove",
          "[diagnosis][verify]") {
  // Warm caches do not make accesses contiguous; halved sizes leave a memory-bound kernel so.
  const auto diagnosis = held({finding("uncoalesced-loads", 0.5), finding("bank-conflicts", 0.4)},
                              {{.condition = Condition::warm_caches,
                                .what = "warm caches",
                                .saved = 0.5,
                                .low = 0.4,
                                .high = 0.6},
                               halved("n", 0.5)});

  CHECK(diagnosis.findings[0].evidence == "numbers");
  CHECK(diagnosis.findings[1].evidence == "numbers");
  CHECK(diagnosis.bound == Bound::occupancy);
  // They are reported all the same.
  CHECK(diagnosis.bound_evidence.find("n halved saves 50 %") != std::string::npos);
}

TEST_CASE(
    "a finding that an intervention speaks about has its outcome and figures, others have none",
    "[diagnosis][verify]") {
  const auto diagnosis = held({finding("dram-bound-latency", 0.2), finding("bank-conflicts", 0.1)},
                              {one(Condition::warm_caches, "warm caches", 0.41)});

  CHECK(diagnosis.findings[0].outcome == FindingOutcome::confirmed);
  CHECK(diagnosis.findings[0].intervention == "warm caches save 41 % (39..43)");
  CHECK_FALSE(diagnosis.findings[1].outcome);
  CHECK_FALSE(diagnosis.findings[1].intervention);
}

TEST_CASE("half of the resident blocks at no cost refute low occupancy", "[diagnosis][verify]") {
  const auto low = tested("low-achieved-occupancy", {fewer_blocks(-0.01)});
  CHECK(low.outcome == FindingOutcome::not_confirmed);
  CHECK(low.evidence.starts_with(
      "not confirmed: half of the resident blocks cost 1 % (-1..3); numbers"));
  CHECK(low.headroom == 0);
  // They even help.
  const auto better = tested("low-achieved-occupancy", {fewer_blocks(0.2)});
  CHECK(better.outcome == FindingOutcome::not_confirmed);
  CHECK(better.intervention == "half of the resident blocks save 20 % (18..22)");
}

TEST_CASE("half of the resident blocks at a cost are consistent with low occupancy, and no proof",
          "[diagnosis][verify]") {
  const auto diagnosis =
      held({finding("low-achieved-occupancy", 0.5), finding("latency-bound-loads", 0.4)},
           {fewer_blocks(-0.38)});
  for (const auto& each : diagnosis.findings) {
    CHECK(each.outcome == FindingOutcome::consistent);
    CHECK(each.intervention == "half of the resident blocks cost 38 % (36..40)");
  }
  CHECK(diagnosis.findings[0].headroom == 0.5);  // what more blocks save was not measured
  CHECK(diagnosis.confidence != Confidence::high);
  CHECK(tested("low-achieved-occupancy", {fewer_blocks(-0.07)}).outcome ==
        FindingOutcome::undecided);
}

TEST_CASE("waits for loads are not refuted by blocks that are not missing", "[diagnosis][verify]") {
  // A long chain of loads in a few warps waits however many others are resident.
  CHECK(tested("latency-bound-loads", {fewer_blocks(0.0)}).outcome == FindingOutcome::undecided);
}

TEST_CASE("waits for loads are confirmed by what removes one cause of them, and refuted by nothing",
          "[diagnosis][verify]") {
  const auto warm = one(Condition::warm_caches, "warm caches", 0.0);
  const auto in_order = one(Condition::indices_in_order, "indices in order", 0.0);
  // A list is as serial in L2, and its words may be no indices.
  CHECK(tested("latency-bound-loads", {warm, in_order}).outcome == FindingOutcome::undecided);
  CHECK(tested("latency-bound-loads", {fewer_blocks(-0.4), warm}).outcome ==
        FindingOutcome::consistent);
  CHECK(tested("latency-bound-loads",
               {warm, one(Condition::indices_in_order, "indices in order", 0.4)})
            .outcome == FindingOutcome::confirmed);
}

TEST_CASE("indices in order confirm what follows them, and refute nothing", "[diagnosis][verify]") {
  const auto nothing = one(Condition::indices_in_order, "indices in order", 0.01);
  for (const auto* finding : {"uncoalesced-loads", "partial-sector-stores", "dram-bound-latency"}) {
    CAPTURE(finding);
    // A column is strided whatever its integers say.
    CHECK(tested(finding, {nothing}).outcome == FindingOutcome::undecided);
    CHECK(tested(finding, {one(Condition::indices_in_order, "indices in order", 0.4)}).outcome ==
          FindingOutcome::confirmed);
  }
  const auto dram =
      tested("dram-bound-latency", {nothing, one(Condition::warm_caches, "warm caches", 0.0)});
  CHECK(dram.outcome == FindingOutcome::not_confirmed);
  CHECK(dram.intervention == "warm caches save 0 % (-2..2)");
}

TEST_CASE("registers that make room for a block confirm low occupancy by what they save",
          "[diagnosis][verify]") {
  const auto diagnosis =
      held({finding("bank-conflicts", 0.9), finding("low-achieved-occupancy", 0.5)},
           {fewer_blocks(-0.38), register_cap(0.23)});
  CHECK(diagnosis.findings[0].evidence.starts_with(
      "confirmed: a cap of 64 registers saves 23 % (21..25); numbers"));
  CHECK(diagnosis.findings[0].headroom == 0.23);
  CHECK(diagnosis.bound == Bound::occupancy);
  CHECK(diagnosis.confidence == Confidence::high);
}

TEST_CASE("registers that save nothing refute low occupancy, unless they went to memory",
          "[diagnosis][verify]") {
  CHECK(tested("low-achieved-occupancy", {register_cap(0.01)}).outcome ==
        FindingOutcome::not_confirmed);
  auto spills = register_cap(-0.3);
  spills.refutes = false;
  CHECK(tested("low-achieved-occupancy", {spills}).outcome == FindingOutcome::undecided);
  // Then the blocks decide.
  CHECK(tested("low-achieved-occupancy", {spills, fewer_blocks(0.0)}).outcome ==
        FindingOutcome::not_confirmed);
  CHECK(tested("low-achieved-occupancy", {register_cap(0.07)}).outcome ==
        FindingOutcome::undecided);
}

TEST_CASE("warm caches at a smaller size confirm, and refute only in a call that is long enough",
          "[diagnosis][verify]") {
  auto smaller = one(Condition::warm_caches, "warm caches at rows=1024", 0.41);
  smaller.other_size = true;
  const auto confirmed = tested("dram-bound-latency", {smaller});
  CHECK(confirmed.evidence.starts_with("confirmed: warm caches at rows=1024 save 41 % (39..43)"));
  CHECK(confirmed.headroom == 0.5);  // that share is of the other size

  auto nothing = one(Condition::warm_caches, "warm caches at rows=1024", 0.01);
  nothing.other_size = true;
  CHECK(tested("dram-bound-latency", {nothing}).outcome == FindingOutcome::not_confirmed);
  nothing.refutes = false;
  CHECK(tested("dram-bound-latency", {nothing}).outcome == FindingOutcome::undecided);
}

TEST_CASE("a small grid is confirmed by blocks that run beside each other at no cost",
          "[diagnosis][verify]") {
  auto rows = halved("rows", 0.02);
  rows.halves_blocks = true;
  const auto diagnosis = held({finding("small-grid", 0.76)}, {rows, halved("cols", 0.49)});
  CHECK(diagnosis.findings[0].outcome == FindingOutcome::confirmed);
  CHECK(diagnosis.findings[0].intervention == "rows halved saves only 2 % (0..4)");
  CHECK(diagnosis.findings[0].headroom == 0.76);
  CHECK(diagnosis.bound == Bound::occupancy);
}

TEST_CASE("a small grid is refuted by blocks that take each other's time", "[diagnosis][verify]") {
  auto rows = halved("rows", 0.45);
  rows.halves_blocks = true;
  CHECK(tested("small-grid", {rows}).outcome == FindingOutcome::not_confirmed);
  auto between = halved("rows", 0.25);
  between.halves_blocks = true;
  CHECK(tested("small-grid", {between}).outcome == FindingOutcome::undecided);
  // Two dims that contradict each other.
  auto other = halved("cols", 0.02);
  other.halves_blocks = true;
  CHECK(tested("small-grid", {rows, other}).outcome == FindingOutcome::undecided);
}

TEST_CASE("a halved dim that leaves the blocks as they are says nothing about a small grid",
          "[diagnosis][verify]") {
  // A call that is mostly launch, a size below a tile, or a fixed grid: see halves_blocks_alone.
  CHECK_FALSE(tested("small-grid", {halved("rows", 0.02)}).outcome);
  CHECK_FALSE(tested("small-grid", {halved("rows", 0.48)}).outcome);
  CHECK(tested("launch-bound", {halved("rows", 0.02)}).outcome == FindingOutcome::confirmed);
}

TEST_CASE("arithmetic in any order confirms what it takes away, if one thing only",
          "[diagnosis][verify]") {
  const auto scalar = tested("host-scalar-loop", {any_order(0.7, true)});
  CHECK(scalar.evidence.starts_with("confirmed: arithmetic in any order saves 70 % (68..72)"));
  CHECK(scalar.headroom == 0.7);
  CHECK(tested("host-dependency-chain", {any_order(0.7, false)}).outcome ==
        FindingOutcome::confirmed);
  // Nothing was gained, which a person still may.
  CHECK(tested("host-scalar-loop", {any_order(0.0, true)}).outcome == FindingOutcome::undecided);
  // What was gained is no gain of vectors.
  CHECK_FALSE(tested("host-scalar-loop", {any_order(0.7, false)}).outcome);

  const auto both = held({finding("host-math-calls", 0.5), finding("host-scalar-loop", 0.4)},
                         {any_order(0.7, true)});
  for (const auto& one : both.findings) CHECK(one.outcome == FindingOutcome::confirmed);
  CHECK(both.bound == Bound::compute);
  const auto mixed = held({finding("host-divisions", 0.5), finding("host-scalar-loop", 0.4)},
                          {any_order(0.7, true)});
  for (const auto& one : mixed.findings) CHECK(one.outcome == FindingOutcome::consistent);
  const auto alone = held({finding("host-divisions", 0.5), finding("host-scalar-loop", 0.4)},
                          {any_order(0.7, false)});
  CHECK(alone.findings[0].outcome == FindingOutcome::confirmed);  // there was nothing else
  CHECK(mixed.bound == Bound::occupancy);                         // as diagnosed
}

TEST_CASE("idle processors are seen by half of them that do as well, which confirms no gain",
          "[diagnosis][verify]") {
  const auto idle = tested("host-single-thread", {fewer_processors(-0.01)});
  CHECK(idle.outcome == FindingOutcome::consistent);
  CHECK(idle.intervention == "half of the processors cost only 1 % (-1..3)");
  CHECK(idle.headroom == 0.5);
  CHECK(tested("host-single-thread", {fewer_processors(-0.9)}).outcome ==
        FindingOutcome::not_confirmed);
  CHECK(tested("host-single-thread", {fewer_processors(-0.2)}).outcome ==
        FindingOutcome::undecided);
  // A right class stays, though nothing can test its finding.
  const auto both = held({finding("host-branches", 0.6), finding("host-single-thread", 0.5)},
                         {fewer_processors(0)});
  CHECK(both.findings[0].id == "pattern-host-branches");
  CHECK(both.bound_evidence.starts_with("rules"));
}

TEST_CASE("an intervention whose times were spoiled decides nothing", "[diagnosis][verify]") {
  auto spoiled = one(Condition::warm_caches, "warm caches", 0.41);
  spoiled.doubt = "cores_held";
  const auto finding = tested("dram-bound-latency", {spoiled});
  CHECK(finding.outcome == FindingOutcome::undecided);
  CHECK(finding.intervention == "warm caches save 41 % (39..43), cores_held");
}
