#include "kernels/counters/ncu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstddef>

#include "kernels/process/confinement.h"
#include "kernels/process/private_folder.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

constexpr std::chrono::seconds kImport{120};
constexpr std::size_t kMostCsv = std::size_t{64} << 20U;
constexpr const char* kMostLaunches = "64";  // as many as the other engine counts
constexpr std::size_t kShown = 400;

const char* sections_of(MetricSet set) {
  switch (set) {
    case MetricSet::lean:
      return nullptr;
    case MetricSet::overview:
      return "basic";
    case MetricSet::stalls:
      return "source";
    case MetricSet::full:
      return "full";
  }
  return nullptr;
}

/// ncu's own messages, without its prefix; else the end of its output.
std::string complaints_in(const std::string& log) {
  std::string found;
  std::size_t at = 0;
  for (const std::string_view mark : {"==ERROR== ", "==WARNING== "})
    for (at = log.find(mark); at != std::string::npos; at = log.find(mark, at)) {
      at += mark.size();
      const auto line = log.substr(at, log.find('\n', at) - at);
      found += (found.empty() ? "" : "; ") + line;
    }
  if (found.empty() && log.size() > kShown) return log.substr(log.size() - kShown);
  return (found.empty() ? log : found).substr(0, kShown);
}

}  // namespace

std::string ncu_name(const FoundProgram& ncu) {
  return "ncu " + ncu.version;
}

Error ncu_missing() {
  return {ErrorCode::unavailable, "engine: ncu (Nsight Compute) was not found",
          "Leave engine out: the counters are then read in process. Or install Nsight Compute and "
          "put ncu in PATH; check_env lists what was found."};
}

std::vector<std::string> ncu_command(const FoundProgram& ncu, MetricSet set,
                                     const std::vector<std::string>& metrics) {
  std::vector<std::string> command{ncu.path.string(),
                                   "--clock-control",
                                   "none",
                                   "--cache-control",
                                   "all",
                                   "--launch-count",
                                   kMostLaunches,
                                   "--target-processes",
                                   "application-only",
                                   "--export",
                                   kNcuReport,
                                   "--log-file",
                                   kNcuLog};
  if (const char* sections = sections_of(set)) command.insert(command.end(), {"--set", sections});
  command.insert(command.end(), {"--metrics", fmt::format("{}", fmt::join(metrics, ","))});
  return command;
}

std::string ncu_trouble(const std::string& log) {
  const auto says = [&](const char* text) { return log.find(text) != std::string::npos; };
  if (says("ERR_NVGPUCTRPERM"))
    return "the driver does not permit hardware counters to this user. Run as root or with "
           "CAP_SYS_ADMIN, or let every user read counters; check_env says how";
  if (says("No kernels were profiled")) return "the call launches no kernel on this device";
  if (log.empty()) return "ncu wrote neither a report nor a message";
  return "ncu: " + complaints_in(log);
}

Result<std::string> ncu_raw_page(std::string_view report, const std::string& name,
                                 const Toolchain& toolchain, const std::stop_token& stop) {
  if (!toolchain.ncu) return ncu_missing();
  auto folder = PrivateFolder::make();
  if (!folder) return folder.error();
  const auto copy = folder->path() / kNcuReport;
  if (auto written = write_file(copy, report); !written) return written.error();
  ProcessSpec spec;
  spec.argv = {toolchain.ncu->path.string(),
               "--import",
               copy.string(),
               "--csv",
               "--page",
               "raw",
               "--print-units",
               "base",
               "--print-kernel-base",
               "mangled"};
  spec.folder = folder->path();
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + folder->path().string(),
                      "TMPDIR=" + folder->path().string()};
  const auto& program = toolchain.ncu->path;
  const Confinement walls{
      toolchain.confine, "reader", {program.parent_path().parent_path().string(), copy.string()}};
  auto run = run_confined(spec, walls, kImport, stop, kMostCsv);
  if (!run) return run.error();
  if (run->truncated)
    return Error{ErrorCode::too_large,
                 fmt::format("the report's table is larger than {} MiB", kMostCsv >> 20U),
                 "Export fewer launches."};
  if (run->timed_out || !run->status.clean())
    return invalid_argument(
        fmt::format("ncu cannot read {} ({}): {}", name, run->ending(),
                    complaints_in(run->err + run->out)),
        "A report of a newer ncu requires that version; recreate a damaged report.");
  return std::move(run->out);
}

}  // namespace ratchet
