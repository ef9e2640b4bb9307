// The diagnosis of twenty kernels, each written with one known flaw, from metrics counted on an
// H200 (tests/gpu/labeled_kernels.cu, counters.sh).

#include <catch2/catch_test_macros.hpp>

#include "kernels/diagnosis/diagnosis.h"
#include "server/core/files.h"
#include "tests/support/places.h"

using namespace ratchet;

namespace {

Json json_at(const std::string& path) {
  const auto text = read_file(test::source_dir() / path);
  if (!text) FAIL(text.error().message);
  return Json::parse(*text);
}

Diagnosis diagnosed(const Json& recorded) {
  const std::vector<KernelCounters> kernels{
      {"kernel", recorded.at("metrics").get<std::map<std::string, double>>()}};
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.device.multiprocessors = 132;
  input.timing.median = {recorded.at("median_ns").get<double>()};
  input.kernels = kernels;
  input.dtypes = {DType::f32};
  input.launches = recorded.at("launches").get<int>();
  return diagnose(input);
}

/// Empty, or the error in the diagnosis.
std::string complaint(const Diagnosis& diagnosis, const Json& label) {
  const std::string bound(name_of(diagnosis.bound));
  const std::string first =
      diagnosis.findings.empty() ? "none" : diagnosis.findings.front().id.substr(8);
  const auto& bounds = label.at("bound");
  const bool right = std::ranges::find(bounds, Json(bound)) != bounds.end();
  const bool found = label.at("pattern").is_null() || label.at("pattern") == first;
  return right && found ? "" : "bound " + bound + ", first " + first;
}

}  // namespace

TEST_CASE("kernels with one known flaw are diagnosed with it", "[diagnosis]") {
  const auto recorded = json_at("tests/gpu/results/labeled.json");
  const auto labels = json_at("tests/gpu/labels.json");
  REQUIRE(labels.size() == 20);
  for (const auto& [entry, label] : labels.items()) {
    const auto diagnosis = diagnosed(recorded.at(entry));
    INFO(entry << ": " << complaint(diagnosis, label) << "\n  " << diagnosis.bound_evidence);
    CHECK(complaint(diagnosis, label).empty());
  }
}

TEST_CASE("the diagnosis of a labeled kernel cites numbers, a query and methods", "[diagnosis]") {
  const auto recorded = json_at("tests/gpu/results/labeled.json");
  const auto diagnosis = diagnosed(recorded.at("barrier"));
  const auto& finding = diagnosis.findings.at(0);

  CHECK(finding.evidence.starts_with("stall barrier (warps per issue) = 6"));
  CHECK(finding.confidence == Confidence::high);
  CHECK(finding.methods.at(0) == "reduce_sync_count");
  CHECK_FALSE(finding.query.empty());
  CHECK(diagnosis.bound_evidence.find("dominant stall barrier") != std::string::npos);
  CHECK(diagnosis.bound_evidence.find(fmt::format("rules v{}", kDiagnosisRules)) !=
        std::string::npos);
}
