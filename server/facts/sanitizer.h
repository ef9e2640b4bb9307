#pragma once

// What compute-sanitizer reported about a kernel: advice, not a verdict.

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/contract.h"

namespace ratchet {

/// In order: out-of-bounds or misaligned accesses; races on shared memory; reads of uninitialized
/// memory; barriers that not all threads reach.
enum class SanitizerTool { memcheck, racecheck, initcheck, synccheck };
constexpr auto enum_names(SanitizerTool) {
  using enum SanitizerTool;
  return as_written<memcheck, racecheck, initcheck, synccheck>();
}

/// A place in the source with all reports of one kind about it.
struct SanitizerFinding {
  static constexpr std::string_view kOrigin = "compute-sanitizer";
  SanitizerTool tool = SanitizerTool::memcheck;
  std::string severity;  ///< error or warning
  std::string kind;      ///< "Invalid __global__ write"
  std::string function;  ///< the kernel
  std::string file;      ///< empty without line information
  int line = 0;
  std::string message;  ///< of the first report, on one line
  int count = 1;        ///< reports that were merged

  static constexpr void fields(auto&& visit) {
    using F = SanitizerFinding;
    visit(required<&F::tool>("The tool that reported it."),
          required<&F::severity>("error or warning."), required<&F::kind>("Kind of error."),
          required<&F::function>("Kernel."), required<&F::file>("Source file; empty: unknown."),
          required<&F::line>("Line; 0: unknown."),
          required<&F::message>("The first report of this kind at this place."),
          required<&F::count>("Number of such reports."));
  }
};

/// The result of one tool.
struct SanitizerRun {
  static constexpr std::string_view kOrigin = "compute-sanitizer";
  SanitizerTool tool = SanitizerTool::memcheck;
  bool finished = false;
  int errors = 0;      ///< counted by the tool
  std::string detail;  ///< why it did not finish, or what the kernel did
  double elapsed_ms = 0;

  static constexpr void fields(auto&& visit) {
    using R = SanitizerRun;
    visit(required<&R::tool>("Tool."), required<&R::finished>("It covered the whole call."),
          required<&R::errors>("Errors, as counted by the tool."),
          optional<&R::detail>("Why it did not finish, or what the kernel did."),
          required<&R::elapsed_ms>("Wall time, ms."));
  }
};

struct SanitizerReport {
  Dims dims;
  std::vector<SanitizerRun> runs;
  std::vector<SanitizerFinding> findings;  ///< errors first
  int dropped = 0;                         ///< findings beyond the limit
  std::string sandbox;                     ///< what isolated the kernel
  std::string version;                     ///< of compute-sanitizer
  std::string candidate_digest;

  /// Every tool covered the whole call and found nothing.
  [[nodiscard]] bool clean() const {
    for (const auto& run : runs)
      if (!run.finished || run.errors > 0) return false;
    return findings.empty() && !runs.empty();
  }

  static constexpr void fields(auto&& visit) {
    using S = SanitizerReport;
    visit(required<&S::dims>("Sizes of the call."), required<&S::runs>("One entry per tool."),
          required<&S::findings>("Errors first."),
          required<&S::dropped>("Findings beyond the limit."),
          required<&S::sandbox>("What isolated the kernel."),
          required<&S::version>("Version of compute-sanitizer."),
          required<&S::candidate_digest>("SHA-256 of the binary that was run."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<SanitizerFinding>();
extern template const FieldTable& table_of<SanitizerRun>();
extern template const FieldTable& table_of<SanitizerReport>();
}  // namespace ratchet::fields_detail
