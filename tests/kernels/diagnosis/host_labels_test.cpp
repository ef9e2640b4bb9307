// The diagnosis of host kernels whose limiter was established by removing it (tests/labels), from
// what was counted on a machine without hardware counters and with busy neighbors.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "kernels/diagnosis/diagnosis.h"
#include "server/core/files.h"
#include "tests/support/places.h"

using namespace ratchet;

namespace {

Json label_json(const std::string& path) {
  const auto text = read_file(test::source_dir() / path);
  if (!text) FAIL(text.error().message);
  return Json::parse(*text);
}

Diagnosis diagnosis_of(const Json& recorded) {
  const std::vector<KernelCounters> kernels{
      {"solve", recorded.at("metrics").get<std::map<std::string, double>>()}};
  DiagnosisInput input;
  input.device.multiprocessors = 2;
  input.timing.median = {recorded.at("median_ns").get<double>()};
  input.kernels = kernels;
  return diagnose(input);
}

bool holds(const Json& list, const std::string& text) {
  return std::ranges::find(list, Json(text)) != list.end();
}

}  // namespace

TEST_CASE("host kernels are diagnosed with the reason whose removal helps", "[diagnosis]") {
  const auto recorded = label_json("tests/labels/results/host-labels.json");
  const auto labels = label_json("tests/labels/labels.json");
  REQUIRE(recorded.size() >= 16);
  double classes = 0, firsts = 0;
  for (const auto& [name, kernel] : recorded.items()) {
    const auto& label = labels.at(name);
    const auto diagnosis = diagnosis_of(kernel);
    INFO(name << ": " << name_of(diagnosis.bound) << ", " << diagnosis.bound_evidence);
    classes += holds(label.at("bound"), std::string(name_of(diagnosis.bound))) ? 1 : 0;
    std::vector<std::string> ids;
    // That neighbors hold the cores is said about the times, not about the kernel.
    for (const auto& finding : diagnosis.findings)
      if (finding.id != "pattern-host-neighbors") ids.push_back(finding.id.substr(8));
    firsts += label.at("right").empty()
                  ? (ids.empty() ? 1 : 0)
                  : (!ids.empty() && holds(label.at("right"), ids.front()) ? 1 : 0);
    // Advice that an intervention contradicts is worse than none.
    for (const auto& id : ids) {
      INFO(id);
      CHECK_FALSE(holds(label.at("wrong"), id));
    }
  }
  const auto all = static_cast<double>(recorded.size());
  CHECK(classes / all >= 0.9);
  CHECK(firsts / all >= 0.9);
}
