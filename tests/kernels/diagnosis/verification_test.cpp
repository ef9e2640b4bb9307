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

}  // namespace

TEST_CASE("a finding whose cause was removed with a gain is confirmed, and the class follows it",
          "[diagnosis][verify]") {
  const auto diagnosis = held({finding("small-grid", 0.9), finding("dram-bound-latency", 0.2)},
                              {{.what = "warm caches", .saved = 0.41, .low = 0.39, .high = 0.43}});

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
  const auto diagnosis =
      held({finding("host-cache-miss", 0.8), finding("host-scalar-loop", 0.3)},
           {{.what = "indices in order", .saved = 0.01, .low = -0.01, .high = 0.03}});

  CHECK(diagnosis.findings[0].id == "pattern-host-scalar-loop");
  CHECK(diagnosis.findings[1].evidence ==
        "not confirmed: indices in order save 1 % (-1..3); numbers");
  CHECK(diagnosis.findings[1].headroom == 0.01);
  CHECK(diagnosis.bound == Bound::occupancy);
}

TEST_CASE("what an intervention leaves open keeps its place, its headroom and the class",
          "[diagnosis][verify]") {
  const auto diagnosis =
      held({finding("host-memory-bandwidth", 0.6), finding("host-scalar-loop", 0.3)},
           {{.what = "warm caches", .saved = 0.08, .low = 0.02, .high = 0.14}});

  CHECK(diagnosis.findings[0].evidence.starts_with("undecided: warm caches save 8 % (2..14)"));
  CHECK(diagnosis.findings[0].headroom == 0.6);
  CHECK(diagnosis.bound == Bound::occupancy);
}

TEST_CASE("a cost per call is confirmed by sizes that do not matter, and refuted by one that does",
          "[diagnosis][verify]") {
  const Intervention rows{.what = "rows halved", .saved = 0.02, .low = 0.00, .high = 0.04};
  const Intervention half{.what = "cols halved", .saved = 0.49, .low = 0.47, .high = 0.51};

  const auto fixed = held({finding("launch-bound", 0.5)}, {rows});
  CHECK(fixed.bound == Bound::launch);
  CHECK(fixed.findings[0].evidence.starts_with("confirmed: rows halved saves only 2 % (0..4)"));

  const auto proportional = held({finding("launch-bound", 0.5)}, {rows, half});
  CHECK(proportional.bound == Bound::occupancy);
  CHECK(proportional.findings[0].evidence.starts_with(
      "not confirmed: cols halved saves 49 % (47..51)"));
}

TEST_CASE("an intervention says nothing about causes that it does not remove",
          "[diagnosis][verify]") {
  // Warm caches do not make accesses contiguous; halved sizes leave a memory-bound kernel so.
  const auto diagnosis = held({finding("uncoalesced-loads", 0.5), finding("bank-conflicts", 0.4)},
                              {{.what = "warm caches", .saved = 0.5, .low = 0.4, .high = 0.6},
                               {.what = "n halved", .saved = 0.5, .low = 0.4, .high = 0.6}});

  CHECK(diagnosis.findings[0].evidence == "numbers");
  CHECK(diagnosis.findings[1].evidence == "numbers");
  CHECK(diagnosis.bound == Bound::occupancy);
  // They are reported all the same.
  CHECK(diagnosis.bound_evidence.find("n halved saves 50 %") != std::string::npos);
}
