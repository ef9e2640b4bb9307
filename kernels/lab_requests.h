#pragma once

// Requests of the laboratory, and answers that are not facts of a run; lab_answers.h has those that
// say where their time went.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/fields.h"
#include "server/core/result.h"
#include "server/facts/ahead.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"
#include "server/facts/machine_code.h"
#include "server/facts/task.h"

namespace ratchet {

class Lab;

// Flags of a time about which a reader can do something.
inline constexpr const char* kClockUnknown = "clock_unknown";
inline constexpr const char* kNoiseAboveThreshold = "noise_above_threshold";

/// A source to build outside of any run. The fields are those of TaskRequest.
struct CompileRequest {
  Source source;
  std::optional<std::string> implementation, arch;
  std::string entry = TaskRequest{}.entry;
  std::vector<std::string> flags;

  static constexpr void fields(auto&& visit) {
    using C = CompileRequest;
    visit(required<&C::source>(), optional<&C::implementation>(), optional<&C::arch>(),
          required<&C::entry>(), required<&C::flags>());
  }
};

/// What was built: a candidate that nobody will run, and as much of a contract as its build needs.
struct CompiledSource {
  Contract contract;
  Candidate candidate;

  static constexpr void fields(auto&& visit) {
    visit(required<&CompiledSource::contract>(), required<&CompiledSource::candidate>());
  }
};

/// How long to look for input values that a correct kernel answers wrongly, on the first case.
struct ValueSearchRequest {
  const Candidate* candidate = nullptr;
  const Candidate* yardstick = nullptr;  ///< must be right where the candidate is not; may be null
  double seconds = 0;
};

struct ProfileRequest {
  const Candidate* candidate = nullptr;
  const Candidate* parent = nullptr;  ///< null for v0
  const Candidate* v0 = nullptr;      ///< null for v0, or when it is the parent
  const Candidate* best = nullptr;    ///< the best version; null when it is one of the others
  std::optional<double> seconds;      ///< to go on for while undecided; empty: the lab's limit
  std::optional<double> search;       ///< seconds to look for values that change the time
  MetricSet metrics = MetricSet::overview;
  std::vector<std::string> names;  ///< counters, instead of a set; empty: the set's
  CounterEngine engine = CounterEngine::cupti;
  bool verify = false;  ///< time interventions and hold the findings against them
};

/// A roofline report for display.
struct RooflineDrawing {
  std::string svg;
  std::string text;
};

/// What to compare the candidate with; flags and defaults as in the kernel-benchmark package.
struct BenchmarkRequest {
  const Candidate* candidate = nullptr;
  const Candidate* parent = nullptr;  ///< may be null
  const Candidate* v0 = nullptr;      ///< may be null
  std::vector<std::string> baselines;
  int num_warmup = 5;
  int num_trials = 100;
  int discard_first = 1;
  int prewarm_calls = 1;
  CacheMode cache_mode = CacheMode::cold;
  bool host_time = false;
  std::string values = kNormalValues;  ///< the input distribution to time on
};

/// A call to run under compute-sanitizer.
struct SanitizeRequest {
  const Candidate* candidate = nullptr;
  std::vector<SanitizerTool> tools;
  std::optional<Dims> dims;  ///< some or all sizes; empty: the smallest given case
};

/// An external report to compare with a version.
struct ImportRequest {
  const Candidate* candidate = nullptr;
  const Profile* profile = nullptr;  ///< ours of the same version; may be null
  std::string file_name;
  std::string_view content;  ///< borrowed for the call
};

/// One kernel of a race.
struct Entrant {
  std::string name;
  const Candidate* candidate = nullptr;
};

struct RacePlan {
  Dims dims;
  std::optional<int> samples;  ///< of each, to rank; empty: until intervals decide, by noise
  Ahead ahead = {};
  static constexpr void fields(auto&& visit) {
    visit(required<&RacePlan::dims>(), optional<&RacePlan::samples>(),
          optional<&RacePlan::ahead>());
  }
};

/// Result of one kernel in a race. Comparisons are empty for the first.
struct RaceLine {
  std::string name;
  std::optional<Timing> timing;
  std::optional<Comparison> speedup;   ///< first ÷ this: `faster` means this kernel is faster
  std::optional<Comparison> slowdown;  ///< this ÷ first: `faster` means the first is faster
  std::vector<Reason> reasons;         ///< why its times do not count
  /// Of each round, its time ÷ the first one's; 0 where either has none. Empty for the first.
  std::optional<std::vector<double>> rounds = {};

  static constexpr void fields(auto&& visit) {
    using R = RaceLine;
    visit(required<&R::name>(), optional<&R::timing>(), optional<&R::speedup>(),
          optional<&R::slowdown>(), required<&R::reasons>(), optional<&R::rounds>());
  }
};

/// Which kernel serves a case.
struct DispatchChoice {
  Dims dims;
  std::size_t variant = 0;
};

/// Work on a contract that needs no other piece of it. `work` does all of it on the lab that it
/// gets, under the contract that it gets, which names that lab, and may be asked again from the
/// beginning on another lab if that one is lost.
struct Piece {
  std::optional<std::string> lab;  ///< preferred, because it has done a part already
  std::function<Status(Lab& lab, const Contract& there)> work;
};

/// Whether pieces may run side by side on one lab, as builds do, or use its device in turn.
enum class PieceWork { builds, device };

/// Which code of a binary to show.
enum class CodeView { sass, ptx };
constexpr auto enum_names(CodeView) {
  return as_written<CodeView::sass, CodeView::ptx>();
}

struct DisassemblyRequest {
  CodeView view = CodeView::sass;
  std::string function;  ///< empty: the one with most instructions in loops
  int first_line = 0;    ///< of the listing, where the page begins

  static constexpr void fields(auto&& visit) {
    using D = DisassemblyRequest;
    visit(required<&D::view>(), required<&D::function>(), required<&D::first_line>());
  }
};

/// A page of a kernel's machine code, with counts for all of it.
struct Disassembly {
  std::string disassembler;  ///< program and version
  std::vector<FunctionCode> functions;
  std::string shown;  ///< name of the function in `text`
  std::string text;   ///< depth in loops, source line, address, instruction
  std::optional<int> next_line;

  static constexpr void fields(auto&& visit) {
    using D = Disassembly;
    visit(required<&D::disassembler>(), required<&D::functions>(), required<&D::shown>(),
          required<&D::text>(), optional<&D::next_line>());
  }
};

}  // namespace ratchet
