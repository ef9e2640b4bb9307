// The diagnosis of CUDA kernels whose limit is established by intervention, from metrics counted
// on H200s and an H100 (tests/labels/cuda_run.py).

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "kernels/diagnosis/diagnosis.h"
#include "server/core/files.h"
#include "tests/support/places.h"

using namespace ratchet;

namespace {

DType type_named(const std::string& name) {
  for (const auto& [type, text] : enum_names(DType{}))
    if (name == text) return type;
  FAIL(name);
  return DType::f32;
}

Diagnosis diagnosed_again(const Json& record) {
  std::vector<KernelCounters> kernels;
  for (const auto& kernel : record.at("kernels"))
    kernels.push_back({kernel.at("name"), kernel.at("metrics")});
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.device.multiprocessors = 132;
  input.timing.median = {record.at("median_ns").get<double>()};
  input.kernels = kernels;
  input.launches = static_cast<int>(kernels.size());
  for (const auto& type : record.at("dtypes")) input.dtypes.push_back(type_named(type));
  return diagnose(input);
}

bool named_in(const Json& list, const std::string& word) {
  return std::ranges::find(list, Json(word)) != list.end();
}

}  // namespace

TEST_CASE("CUDA kernels are diagnosed with the cause whose removal helps", "[diagnosis]") {
  const auto text = read_file(test::source_dir() / "tests/labels/results/cuda-labels.json");
  REQUIRE(text);
  const auto records = Json::parse(*text);
  std::size_t established = 0, classes = 0, findings = 0, contradicted = 0;
  for (const auto& [name, record] : records.items()) {
    const auto diagnosis = diagnosed_again(record);
    const std::string bound(name_of(diagnosis.bound));
    const auto first =
        diagnosis.findings.empty() ? std::string("none") : diagnosis.findings.front().id.substr(8);
    INFO(name << ": " << bound << ", " << first);
    established += record.at("causes").empty() ? 0 : 1;
    classes += named_in(record.at("classes"), bound) ? 1 : 0;
    findings += named_in(record.at("findings"), first) ? 1 : 0;
    // Advice that an intervention contradicts.
    for (const auto& finding : diagnosis.findings)
      contradicted += named_in(record.at("against"), finding.id.substr(8)) ? 1 : 0;
  }
  // tests/gpu/results/labels-cuda.md and labels-cuda-blind.md have the tables.
  CHECK(established == 210);
  CHECK(classes >= 205);
  CHECK(findings >= 202);
  CHECK(contradicted <= 2);
}

// A formatter once joined these lines, and no kernel could be read any more.
TEST_CASE("a labeled kernel has its sizes and each of its causes in a line of its own",
          "[diagnosis]") {
  const auto folder = test::source_dir() / "tests/labels";
  const auto text = read_file(folder / "results/cuda-labels.json");
  REQUIRE(text);
  const auto records = Json::parse(*text);
  std::size_t established = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "cuda")) {
    if (entry.path().extension() != ".cu") continue;
    INFO(entry.path());
    const auto source = read_file(entry.path());
    REQUIRE(source);
    const auto has_line = [&](const std::string& begin) {
      return ("\n" + *source).find("\n// " + begin) != std::string::npos;
    };
    CHECK(has_line("dims: "));
    CHECK(has_line("tensor: "));
    const auto record = records.find(entry.path().stem().string());
    if (record == records.end()) continue;
    for (const auto& cause : record->at("causes")) {
      INFO(cause);
      CHECK((has_line("without " + cause.get<std::string>()) ||
             has_line("floor " + cause.get<std::string>())));
    }
    established += record->at("causes").empty() ? 0 : 1;
  }
  CHECK(established == 210);
}
