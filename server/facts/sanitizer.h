#pragma once

// What compute-sanitizer said about a kernel: advice, never a verdict.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/field.h"
#include "server/facts/contract.h"

namespace ratchet {

/// What is looked for: accesses out of bounds or misaligned, races on shared memory, reads of
/// memory that nobody wrote, barriers that not all threads reach.
enum class SanitizerTool { memcheck, racecheck, initcheck, synccheck };
constexpr auto enum_names(SanitizerTool) {
  using enum SanitizerTool;
  return std::array{std::pair{memcheck, "memcheck"}, std::pair{racecheck, "racecheck"},
                    std::pair{initcheck, "initcheck"}, std::pair{synccheck, "synccheck"}};
}

/// One place in the source, with all reports of one kind that named it.
struct SanitizerFinding {
  SanitizerTool tool = SanitizerTool::memcheck;
  std::string severity;  ///< error or warning
  std::string kind;      ///< "Invalid __global__ write"
  std::string function;  ///< the kernel
  std::string file;      ///< empty where the code has no line information
  int line = 0;
  std::string message;  ///< of the first report, on one line
  int count = 1;        ///< reports that were merged

  static constexpr void fields(auto&& visit) {
    using F = SanitizerFinding;
    visit(required("tool", &F::tool, "Which of the four tools."),
          required("severity", &F::severity, "error or warning."),
          required("kind", &F::kind, "What was done wrongly."),
          required("function", &F::function, "Kernel."),
          required("file", &F::file, "Source file; empty: unknown."),
          required("line", &F::line, "Line; 0: unknown."),
          required("message", &F::message, "The first report of this kind here."),
          required("count", &F::count, "Reports like it."));
  }
};

/// How one tool fared.
struct SanitizerRun {
  SanitizerTool tool = SanitizerTool::memcheck;
  bool finished = false;
  int errors = 0;      ///< as the tool counts them
  std::string detail;  ///< why it did not finish, or what the kernel did
  double elapsed_ms = 0;

  static constexpr void fields(auto&& visit) {
    using R = SanitizerRun;
    visit(required("tool", &R::tool, ""),
          required("finished", &R::finished, "It saw the whole call."),
          required("errors", &R::errors, "Its own count."),
          optional("detail", &R::detail, "What went wrong."),
          required("elapsed_ms", &R::elapsed_ms, "Wall time, ms."));
  }
};

struct SanitizerReport {
  Dims dims;
  std::vector<SanitizerRun> runs;
  std::vector<SanitizerFinding> findings;  ///< errors first
  int dropped = 0;                         ///< findings beyond the cap
  std::string sandbox;                     ///< what held the kernel meanwhile
  std::string version;                     ///< of compute-sanitizer
  std::string candidate_digest;

  /// Every tool saw the whole call and found nothing.
  [[nodiscard]] bool clean() const {
    for (const auto& run : runs)
      if (!run.finished || run.errors > 0) return false;
    return findings.empty() && !runs.empty();
  }

  static constexpr void fields(auto&& visit) {
    using S = SanitizerReport;
    visit(required("dims", &S::dims, "Sizes of the call."),
          required("runs", &S::runs, "One per tool."),
          required("findings", &S::findings, "Errors first."),
          required("dropped", &S::dropped, "Findings beyond the cap."),
          required("sandbox", &S::sandbox, "What held the kernel meanwhile."),
          required("version", &S::version, "Of compute-sanitizer."),
          required("candidate_digest", &S::candidate_digest, "Binary that was run."));
  }
};

}  // namespace ratchet
