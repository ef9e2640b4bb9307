#pragma once

// Small, complete records for tests of server/runs: a contract, kernels, findings, a knowledge
// answer; and a workshop that walks a run through its stages in a temporary folder.

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/runs/runs.h"
#include "tests/support/temp_folder.h"

namespace ratchet::samples {

namespace fs = std::filesystem;

/// In memory if possible: a run writes dozens of files with two fsyncs each, which would dominate
/// the time of the tests.
class FastFolder : public test::TempFolder {
 public:
  FastFolder()
      : TempFolder(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : fs::temp_directory_path()) {}
};

inline void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::trunc) << text;
}

inline std::string text_of(const fs::path& path) {
  auto text = read_file(path);
  return text ? *text : "";
}

inline std::string kernel_text(int version) {
  return "// version " + std::to_string(version) +
         "\nextern \"C\" void solve(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) "
         "y[i] = x[i] + " +
         std::to_string(version) + "; }\n";
}

inline Contract contract(int iterations = 2) {
  Contract contract;
  contract.kernel_name = "shift";
  contract.device_name = "Test CPU";
  contract.arch = "native";
  contract.parameters = {{"x", ParameterKind::tensor, DType::f32, true, {}},
                         {"y", ParameterKind::tensor, DType::f32, false, {}},
                         {"n", ParameterKind::dim, DType::i32, false, {}}};
  contract.tensors = {{"x", DType::f32, {"n"}, Role::in, "normal"},
                      {"y", DType::f32, {"n"}, Role::out, "normal"}};
  contract.cases = {{{{"n", 1024}}, 1, false}, {{{"n", 31337}}, 1, true}};
  contract.kernel = {"kernel.cpp", kernel_text(0), ""};
  contract.reference = {"ref.cpp", "extern \"C\" void reference(const float*, float*, int);\n", ""};
  contract.iterations = iterations;
  return contract;
}

inline Environment environment() {
  Environment environment;
  environment.devices = {
      {DeviceKind::host, 0, "Test CPU", "x86-64", "", "6.1", 1 << 30, 1 << 20, 2}};
  environment.implementations = {{Implementation::host_cpp, true, {}},
                                 {Implementation::cuda_cpp, false, {"nvcc"}}};
  environment.tools = {{"python", true, "3.11.2", ""}, {"ncu", false, "", "not in PATH"}};
  environment.counters = {false, "none", "Grant perf_event_open."};
  environment.sandbox = "seccomp";
  environment.ratchet_version = "0.1.0";
  return environment;
}

inline Candidate candidate(const std::string& text) {
  Candidate candidate;
  candidate.source = {"kernel.cpp", text, ""};
  candidate.build.ok = true;
  candidate.build.source_digest = sha256_hex(text);
  candidate.build.binary_digest = sha256_hex("binary of " + text);
  candidate.build.toolchain = "g++ 12.2.0";
  candidate.build.command = "g++ -O3 kernel.cpp";
  return candidate;
}

inline Candidate failed_build(const std::string& text) {
  Candidate failed = candidate(text);
  failed.build.ok = false;
  failed.build.binary_digest.clear();
  failed.build.errors = {{"kernel.cpp", 2, "expected ';' | here"}};
  return failed;
}

inline CorrectnessReport correctness(const Candidate& of, bool passed = true) {
  CorrectnessReport report;
  report.passed = passed;
  report.atol = 1e-5;
  report.rtol = 1e-4;
  report.candidate_digest = of.build.binary_digest;
  OutputError output;
  output.tensor = "y";
  output.mismatches = passed ? 0 : 7;
  output.elements = 1024;
  output.preview_kernel = {1, 2};
  output.preview_reference = {1, 2};
  for (const bool hidden : {false, true}) {
    const std::int64_t n = hidden ? 31337 : 1024;
    report.cases.push_back(
        {{{"n", n}}, 0, "normal", hidden, passed, 0, 0, output.mismatches, {output}});
  }
  if (!passed) report.reasons = {{"mismatch", "7 of 1024 elements differ", std::nullopt}};
  return report;
}

inline Profile profile(const Candidate& of, double median_ns) {
  Profile profile;
  auto& timing = profile.timing;
  timing.median = timing.mean = {median_ns};
  timing.ci_low = timing.min = {median_ns - 1};
  timing.ci_high = timing.max = {median_ns + 1};
  timing.samples = 100;
  timing.stop_reason = "interval_reached";
  profile.verdict = Verdict::baseline;
  profile.metrics = {{"median_ns", median_ns}, {"achieved_bytes_per_s", 8e9}};
  profile.bound = Bound::memory;
  profile.bound_evidence = "8 GB/s of 10 GB/s";
  profile.findings = {{"pattern-host-memory-bandwidth", "near the roof", "80 %", 0.2, "bandwidth"}};
  profile.roofline.bandwidth_fraction = 0.8;
  profile.roofline.binding = "memory";
  profile.roofline.source = "declared_work";
  profile.engine = "none";
  profile.metric_set = "overview";
  profile.cache = "flushed";
  profile.degraded = true;
  profile.degraded_reason = "perf_event is not permitted";
  profile.candidate_digest = of.build.binary_digest;
  return profile;
}

/// A branch that was built, checked and timed, with a clear `speedup` over the incumbent.
inline BranchResult branch(const std::string& name, const std::string& text, double speedup,
                           bool correct = true) {
  BranchResult branch;
  branch.name = name;
  branch.candidate = candidate(text);
  branch.correctness = correctness(branch.candidate, correct);
  branch.diff_lines = 2;
  if (!correct) return branch;
  Timing timing;
  timing.median = {1000 / speedup};
  const auto verdict = speedup > 1.01 ? Verdict::faster : Verdict::same;
  branch.screened = branch.timing = timing;
  branch.screening = branch.confirmation =
      Comparison{"incumbent", speedup, speedup - 0.01, speedup + 0.01, 20, 0.005, verdict};
  return branch;
}

/// A profile compared with every kernel of the permit, each `speedup` times slower.
inline Profile profile(const Permit& permit, double median_ns, double speedup, Verdict verdict) {
  Profile made = profile(*permit.candidate, median_ns);
  made.verdict = verdict;
  const auto compare = [&](const char* against) {
    made.comparisons.push_back(
        {against, speedup, speedup - 0.01, speedup + 0.01, 50, 0.005, verdict});
  };
  if (permit.parent) compare("parent");
  if (permit.v0) compare("v0");
  return made;
}

inline QueryAnswer answer(const std::string& query_id, const std::vector<std::string>& ids) {
  QueryAnswer answer;
  answer.query_id = query_id;
  answer.relaxed = "all";
  answer.total = static_cast<int>(ids.size());
  for (const auto& id : ids)
    answer.results.push_back({id,
                              "Title of " + id,
                              "wiki",
                              1.5,
                              "title",
                              "snippet",
                              "source-reported",
                              {},
                              "MIT",
                              "wiki/" + id + ".md:3",
                              sha256_hex(id)});
  return answer;
}

inline EvidenceRequest evidence() {
  return {{"median_ns"},
          {{"technique-vectorized-loads", "q-kernel", "loads are scalar"},
           {"pattern-host-memory-bandwidth", "q-bottleneck", "80 % of the roof"}},
          {{"technique-tiling", "no reuse"}},
          "scalar loads → vectorized loads → use wider loads"};
}

inline Hypothesis hypothesis(const std::string& change = "use wider loads") {
  return {"memory",
          change,
          "fewer instructions",
          {{"median_ns", "down", "-10 %"}},
          "alignment",
          {"technique-vectorized-loads"},
          "faster by the interval",
          "not faster"};
}

inline BenchmarkReport benchmark(const Candidate& of, double median_ns) {
  BenchmarkReport report;
  report.correct = true;
  report.timing_method = "steady_clock";
  report.candidate_digest = of.build.binary_digest;
  report.geomean = 1.25;
  report.geomean_against = "v0";
  const auto timing = profile(of, median_ns).timing;
  report.rows = {
      {"candidate", "ok", {}, timing, {}, {}, {}, {{"n", 1024}}},
      {"v0", "ok", {}, timing, 1.25, 1.25, {}, {{"n", 1024}}},
      {"torch-compile", "missing", "torch is not installed", {}, {}, {}, {}, {{"n", 1024}}}};
  return report;
}

/// A workload of two sizes, and a hidden one.
inline Contract contract_of_two_cases() {
  auto frozen = contract(1);
  frozen.cases.insert(frozen.cases.begin() + 1, Case{{{"n", 64}}, 1, false});
  return frozen;
}

/// A run in a temporary folder and the steps that advance it. Each step asserts its success.
class Workshop {
 public:
  explicit Workshop(int iterations = 2) : Workshop(contract(iterations)) {}
  explicit Workshop(const Contract& frozen, const SearchPlan& search = {}) {
    reopen();
    auto wanted = new_run(frozen);
    wanted.search = search;
    auto created = runs_->create(wanted);
    REQUIRE(created);
    run = created->run;
  }

  [[nodiscard]] NewRun new_run(const Contract& frozen) const {
    return {frozen, environment(), candidate(frozen.kernel.text), {}, out(), false, "a secret"};
  }

  /// As after a restart of the server.
  void reopen() {
    runs_.reset();
    runs_ = another();
  }
  /// A second server on the same state directory.
  [[nodiscard]] std::unique_ptr<Runs> another() const {
    auto opened = Runs::open(state(), {.durable = false});
    REQUIRE(opened);
    return *std::move(opened);
  }

  [[nodiscard]] Runs& runs() const { return *runs_; }
  [[nodiscard]] fs::path out() const { return folder_->path() / "out"; }
  [[nodiscard]] fs::path state() const { return folder_->path() / "state"; }
  [[nodiscard]] RunStatus status() const {
    auto status = runs_->status(run);
    REQUIRE(status);
    return *status;
  }
  [[nodiscard]] Permit permit(Event event) const {
    auto permit = runs_->permit(run, event);
    INFO((permit ? "" : permit.error().message));
    REQUIRE(permit);
    return *std::move(permit);
  }

  void submit(const std::string& text) const {
    REQUIRE(runs_->record_build(permit(Event::submitted), candidate(text), std::nullopt));
  }
  void check(bool passed = true) const {
    const auto granted = permit(Event::checked);
    auto report = correctness(*granted.candidate, passed);
    const auto one = report.cases.front();
    report.cases.clear();
    for (const auto& given : granted.contract.cases) {
      report.cases.push_back(one);
      report.cases.back().dims = given.dims;
      report.cases.back().hidden = given.hidden;
    }
    REQUIRE(runs_->record_correctness(granted, report));
  }
  void measure(double median_ns = 1000, double speedup = 1,
               Verdict verdict = Verdict::baseline) const {
    const auto granted = permit(Event::profiled);
    REQUIRE(runs_->record_profile(granted, profile(granted, median_ns, speedup, verdict)));
  }
  void query() const {
    REQUIRE(runs_->record_query(run, "wide loads", "kernel",
                                answer("q-kernel", {"technique-vectorized-loads"})));
    REQUIRE(runs_->record_query(run, "memory bound", "bottleneck",
                                answer("q-bottleneck", {"pattern-host-memory-bandwidth"})));
  }
  void write_evidence() const {
    query();
    auto written = runs_->write_evidence(run, evidence());
    INFO((written ? "" : written.error().message));
    REQUIRE(written);
  }
  void write_hypothesis(const std::string& change = "use wider loads") const {
    auto written = runs_->write_hypothesis(run, hypothesis(change));
    INFO((written ? "" : written.error().message));
    REQUIRE(written);
  }
  [[nodiscard]] GateAnswer gate(bool final_gate = false) const {
    auto answer = runs_->check_gate(run, final_gate, false);
    REQUIRE(answer);
    return *answer;
  }

  /// v0 from built to hypothesized.
  void finish_v0() const {
    check();
    measure();
    write_evidence();
    write_hypothesis();
  }
  /// A later version from open to evidenced.
  void finish_version(int number, double speedup = 1.1, Verdict verdict = Verdict::faster) const {
    submit(kernel_text(number));
    check();
    measure(1000 / speedup, speedup, verdict);
    write_evidence();
  }

  RunId run;

 private:
  std::unique_ptr<FastFolder> folder_ = std::make_unique<FastFolder>();
  std::unique_ptr<Runs> runs_;
};

/// Codes of reasons, in order.
inline std::vector<std::string> codes(const std::vector<Reason>& reasons) {
  std::vector<std::string> codes;
  for (const auto& reason : reasons) codes.push_back(reason.code);
  return codes;
}

}  // namespace ratchet::samples
