// Runs a version's kernel under compute-sanitizer to find suspicious places in its source.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/contract/layout.h"
#include "kernels/counters/sanitizer_output.h"
#include "kernels/lab/laboratory.h"
#include "server/core/clock.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kSanitizerSlowdown =
    5;  // for deadlines: instrumented code is slower by this factor or more
constexpr milliseconds kSanitizerStart(120'000);
constexpr milliseconds kSummary(60'000);  // race reports are finished when the program exits
constexpr std::size_t kLargestSanitizerReport = std::size_t{16} << 20U;
constexpr const char* kReportFile = "sanitizer.txt";

Status check_possible(const Contract& contract, const std::optional<FoundProgram>& sanitizer) {
  if (contract.device_kind != DeviceKind::cuda)
    return unavailable(
        "compute-sanitizer watches CUDA kernels; this run's kernels run on the processor",
        "Build the kernel with -fsanitize=address,undefined in your own program.");
  if (is_python(contract.implementation))
    return unavailable(
        "Python kernels cannot run under compute-sanitizer here: their process is forked "
        "from one that has imported the frameworks, not started by the tool",
        "Run compute-sanitizer on your own script that calls run_kernel.");
  if (!sanitizer)
    return unavailable(
        "compute-sanitizer was not found",
        "Install it with the CUDA toolkit (package cuda-sanitizer) and see check_env.");
  return {};
}

/// The given sizes, else the workload's smallest: instrumented calls are slow.
Result<Dims> dims_for(const Contract& contract, const std::optional<Dims>& asked) {
  const Case* smallest = &contract.cases.front();
  std::int64_t least = 0;
  for (const auto& one : contract.cases) {
    auto layout = layout_of(contract, one.dims);
    if (!layout) return layout.error();
    if (&one != smallest && layout->bytes >= least) continue;
    smallest = &one;
    least = layout->bytes;
  }
  if (!asked) return smallest->dims;
  Dims dims = smallest->dims;
  for (const auto& [name, value] : *asked) {
    if (!dims.contains(name))
      return invalid_argument(fmt::format("dims.{}: the task has no such dim", name),
                              "Use dims of the contract.");
    dims[name] = value;
  }
  return dims;
}

std::vector<std::string> options_for(SanitizerTool tool, const std::filesystem::path& program) {
  std::vector<std::string> options{program.string(), "--tool",           std::string(name_of(tool)),
                                   "--log-file",     kReportFile,        "--print-limit",
                                   "1000",           "--show-backtrace", "no"};
  // A refused launch is reported by the check, and errors that follow from a report add nothing.
  // Without padding, buffers would be adjacent.
  if (tool == SanitizerTool::memcheck)
    options.insert(options.end(), {"--report-api-errors", "no", "--padding", "4096"});
  return options;
}

Status sanitize_with(LabParts& lab, SanitizerTool tool, const Contract& contract,
                     const SanitizeRequest& request, const CallPlan& plan, const MemoryFile& arena,
                     SanitizerReport& report, const CallContext& call) {
  const auto begin = steady_clock::now();
  auto library = lab.library_of(contract, *request.candidate, call);
  if (!library) return library.error();
  auto spec =
      worker_spec(lab.place(contract.device_kind, contract.device), "tool", plan.layout.bytes);
  const auto options = options_for(tool, lab.builder.toolchain().sanitizer->path);
  spec.argv.insert(spec.argv.begin(), options.begin(), options.end());
  spec.start_deadline = kSanitizerStart;
  spec.resident_bytes.reset();  // the tool itself records every access
  auto process = CandidateProcess::launch(spec, lab.options.job_deadline * kSanitizerSlowdown);
  if (!process) return process.error();
  const CandidateProcess::Code code{*std::move(library),
                                    {"the kernel's library", contract.entry, ""}};
  if (auto loaded = process->load(code, call); !loaded) return loaded.error();
  report.sandbox = process->sandbox();
  if (auto done = process->exercise(plan, arena, call); !done) return done.error();
  SanitizerRun run{tool, false, 0, "", 0};
  if (const auto& fault = process->fault()) run.detail = fault->kind + ": " + fault->message;
  const auto text = read_file(process->finished(kSummary) / kReportFile, kLargestSanitizerReport);
  auto output = parse_sanitizer_output(tool, text ? *text : "");
  run.finished = output.finished;
  run.errors = output.errors;
  for (const auto& more :
       {output.trouble, text ? "" : "it left no report: " + text.error().message})
    if (!more.empty()) run.detail += (run.detail.empty() ? "" : "; ") + more;
  std::ranges::move(output.findings, std::back_inserter(report.findings));
  run.elapsed_ms = milliseconds_since(begin);
  report.runs.push_back(std::move(run));
  return {};
}

}  // namespace

Result<SanitizerReport> Laboratory::sanitize(const Contract& contract,
                                             const SanitizeRequest& request, CallContext& call) {
  const auto& sanitizer = builder.toolchain().sanitizer;
  if (auto possible = check_possible(contract, sanitizer); !possible) return possible.error();
  auto dims = dims_for(contract, request.dims);
  if (!dims) return dims.error();
  auto turn = queue.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  const auto plan = call_plan_of(contract, *dims);
  if (!plan) return plan.error();
  auto arena = throwaway_arena(contract, *plan, *dims, call);
  if (!arena) return arena.error();
  SanitizerReport report;
  report.dims = *std::move(dims);
  report.version = sanitizer->version;
  report.candidate_digest = request.candidate->build.binary_digest;
  double done = 0;
  for (const auto tool : request.tools) {
    call.progress(done++, static_cast<double>(request.tools.size()), std::string(name_of(tool)));
    if (auto ran = sanitize_with(*this, tool, contract, request, *plan, *arena, report, call); !ran)
      return ran.error();
  }
  cap_findings(report);
  return report;
}

}  // namespace ratchet
