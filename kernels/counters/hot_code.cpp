#include "kernels/counters/hot_code.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/counters/x86_steps.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr double kLoadLatency = 4;  // cycles, from the first-level cache

/// Cycles by which one turn's results lag behind those of the turn before.
double recurrence_of(const std::vector<Step>& steps) {
  const std::string flags = "flags";  // beside the registers, where a result comes of them
  const bool chooses =
      std::ranges::any_of(steps, [](const Step& step) { return reads_flags(step.opcode); });
  std::map<std::string, double> ready;
  double growth = 0;
  constexpr int kTurns = 4;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto before = ready;
    for (const auto& step : steps) {
      double start = reads_flags(step.opcode) ? ready[flags] : 0;
      for (const auto& name : step.sources) start = std::max(start, ready[name]);
      for (const auto& name : step.address) start = std::max(start, ready[name] + kLoadLatency);
      if (step.target) ready[*step.target] = start + latency_of(step);
      if (chooses && sets_flags(step)) ready[flags] = start + latency_of(step);
    }
    growth = 0;
    for (const auto& [name, when] : before) growth = std::max(growth, ready[name] - when);
  }
  return growth;
}

constexpr int kWorthVectors = 4;  // steps of arithmetic on what is loaded and stored
constexpr double kStarted = 4;    // instructions a cycle

/// Cycles that one turn's instructions take at least. Divisions start one by one.
double issue_of(const LoopCode& code) {
  return std::max({1.0, code.instructions / kStarted, code.dividing});
}

std::set<std::string> targets_of(const std::vector<Step>& steps) {
  std::set<std::string> targets;
  for (const auto& step : steps)
    if (step.target) targets.insert(*step.target);
  return targets;
}

/// What a loop does with what it loads.
struct DataUse {
  int jumps = 0;          ///< conditional, inside a turn, by data and not by a count
  int calculated = 0;     ///< steps of integer arithmetic
  int moved = 0;          ///< loads and stores at places that move
  bool stored = false;    ///< what came of it
  bool indirect = false;  ///< an address comes from data that was loaded from a place that moves
};

/// Of the second turn, which has data of the one before.
DataUse data_use(std::span<const Instruction> body, const std::vector<Step>& steps) {
  const auto written = targets_of(steps);
  const auto any_in = [](const Registers& names, const std::set<std::string>& of) {
    return std::ranges::any_of(names, [&](const std::string& name) { return of.contains(name); });
  };
  const auto note = [](const Step& step, bool is, std::set<std::string>& in) {
    if (!step.target) return;
    if (is)
      in.insert(*step.target);
    else
      in.erase(*step.target);
  };
  std::set<std::string> data, places;  // registers with values, with values that may be addresses
  DataUse use;
  for (int turn = 0; turn < 2; ++turn) {
    use = {.indirect = use.indirect};
    bool flags = false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto& step = steps[i];
      if (is_jump(step.opcode)) {
        use.jumps += flags && step.opcode != "jmp" && i + 1 < body.size() ? 1 : 0;
        continue;
      }
      const bool of_data = any_in(step.sources, data);
      const bool moves = any_in(step.address, written);
      use.moved += moves ? 1 : 0;
      if (any_in(step.address, places) || step.opcode.find("gather") != std::string_view::npos)
        use.indirect = true;
      use.calculated += of_data && calculates_integers(step) ? 1 : 0;
      use.stored = use.stored || (step.stores && of_data && moves);
      const bool loads = step.loads && !step.address.empty();
      if (sets_flags(step)) flags = of_data || loads;
      note(step, of_data || loads, data);
      const bool place = step.target && step.target->starts_with('r') && step.loads && moves;
      note(step, place || any_in(step.sources, places), places);
    }
  }
  return use;
}

std::optional<long> immediate_of(std::string_view operand) {
  if (!operand.starts_with('$')) return std::nullopt;
  operand.remove_prefix(1);
  const bool negative = operand.starts_with('-');
  if (negative) operand.remove_prefix(1);
  if (operand.starts_with("0x")) operand.remove_prefix(2);
  unsigned long value = 0;
  const auto [end, bad] =
      std::from_chars(operand.data(), operand.data() + operand.size(), value, 16);
  if (bad != std::errc()) return std::nullopt;
  const auto amount = static_cast<long>(value);
  return negative ? -amount : amount;
}

constexpr long kUnknownStride = 1L << 40;
constexpr long kLine = 64;  // bytes of a cache line

/// Bytes by which registers advance in one turn; `kUnknownStride` when a register is added.
std::map<std::string, long> advances_of(std::span<const Instruction> body,
                                        const std::vector<Step>& steps) {
  const auto written = targets_of(steps);
  std::map<std::string, long> advances;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& step = steps[i];
    const bool adds = starts_with_any(step.opcode, {"add", "sub"}) && step.target &&
                      step.target->starts_with('r') && !step.loads;
    if (!adds) continue;
    const auto parts = operands_of(body[i].operands);
    if (const auto amount = immediate_of(parts.front()))
      advances[*step.target] += *amount;
    else if (step.sources.size() > 1 && !written.contains(step.sources.front()))
      advances[*step.target] = kUnknownStride;
  }
  return advances;
}

bool strides(std::span<const Instruction> body, const std::vector<Step>& steps) {
  const auto advances = advances_of(body, steps);
  std::map<std::string, int> used;  // bytes at each moving register in a turn
  for (const auto& step : steps)
    for (const auto& name : step.address) used[name] += step.width;
  return std::ranges::any_of(used, [&](const auto& one) {
    const auto found = advances.find(one.first);
    return found != advances.end() && std::abs(found->second) >= kLine && one.second > 0 &&
           one.second < kLine;
  });
}

bool starts_threads(const Instruction& one) {
  return one.opcode.starts_with("call") &&
         (one.operands.find("<GOMP_parallel") != std::string_view::npos ||
          one.operands.find("<GOMP_barrier") != std::string_view::npos);
}

/// The group of a shared object in the samples.
std::string_view group_of(std::string_view object) {
  if (object == "kernel") return object;
  if (starts_with_any(object, {"libm.", "libm-", "libmvec"})) return "libm";
  if (starts_with_any(object, {"libc.", "libc-", "ld-linux"})) return "memory";
  if (wire::is_threads_runtime(object)) return "threads";
  if (starts_with_any(object, {"libpython", "python"})) return "python";
  if (starts_with_any(object, {"libopenblas", "libblas", "libmkl", "libscipy_openblas"}))
    return "blas";
  return "libraries";
}

/// Code that a loop's samples stand for.
struct HotLoop {
  const CodeFunction* function;
  int loop;
  bool operator<(const HotLoop& other) const {
    return std::pair(function, loop) < std::pair(other.function, other.loop);
  }
};

std::vector<Instruction> body_of(const HotLoop& place) {
  std::vector<Instruction> body;
  for (const auto& one : place.function->instructions)
    if (one.loop == place.loop) body.push_back(one);
  return body;
}

const Instruction* instruction_at(const CodeFunction& function, std::uint64_t address) {
  const auto& all = function.instructions;
  const auto after = std::ranges::upper_bound(all, address, {}, &Instruction::address);
  return after == all.begin() ? nullptr : &*std::prev(after);
}

const CodeFunction* function_at(std::span<const CodeFunction> functions, std::uint64_t address) {
  constexpr std::uint64_t kLongest = 16;  // bytes of an x86-64 instruction
  for (const auto& one : functions)
    if (!one.instructions.empty() && address >= one.instructions.front().address &&
        address < one.instructions.back().address + kLongest)
      return &one;
  return nullptr;
}

}  // namespace

LoopCode loop_code(std::span<const Instruction> body) {
  LoopCode code;
  std::vector<Step> steps;
  for (const auto& one : body) steps.push_back(step_of(one));
  for (std::size_t i = 0; i < body.size(); ++i) {
    const auto& one = body[i];
    ++code.instructions;
    const auto use = vector_use(one.opcode, one.operands);
    if (calculates(one.opcode)) {
      code.scalar += use == VectorUse::scalar ? 1 : 0;
      code.packed += use == VectorUse::packed ? 1 : 0;
    }
    code.dividing += divides(one.opcode) ? division_cycles(one.operands) : 0;
    // Exchanges with memory are locked without saying so.
    const bool exchanges = one.opcode.starts_with("xchg") && steps[i].stores;
    code.atomics += one.opcode == "lock" || exchanges ? 1 : 0;
    code.calls += one.opcode.starts_with("call") ? 1 : 0;
  }
  const auto use = data_use(body, steps);
  code.indirect = use.indirect;
  code.strided = strides(body, steps);
  code.branches = use.jumps;
  code.chained = recurrence_of(steps) >= 2 * issue_of(code);
  code.divides = code.dividing > 0 && code.dividing >= code.instructions / kStarted;
  code.streams = code.packed > 0 && code.scalar == 0 && use.moved >= code.packed;
  // Integers of which a vector register would hold several. Vectors do not divide them.
  const bool alone = code.scalar + code.packed + code.calls + code.atomics + use.jumps == 0;
  if (alone && code.dividing == 0 && !use.indirect && use.stored && use.calculated >= kWorthVectors)
    code.scalar = use.calculated;
  return code;
}

std::map<std::string, double> hot_code_metrics(const wire::PcSamples& samples,
                                               std::span<const CodeFunction> functions) {
  std::map<std::string, double> metrics;
  if (samples.unavailable || samples.total <= 0) return metrics;
  const auto percent = [&](double count) {
    return 100 * count / static_cast<double>(samples.total);
  };
  metrics["samples"] = static_cast<double>(samples.total);
  std::map<HotLoop, double> loops;
  for (const auto& pc : samples.pcs) {
    double count = 0;
    for (const auto& [reason, number] : pc.reasons) count += static_cast<double>(number);
    const auto group = group_of(pc.function);
    metrics["samples_in_" + std::string(group) + ".pct"] += percent(count);
    if (group != "kernel" || pc.offset < 0) continue;
    const auto address = static_cast<std::uint64_t>(pc.offset);
    const auto* const function = function_at(functions, address);
    const auto* const at = function ? instruction_at(*function, address) : nullptr;
    if (at != nullptr && at->loop >= 0) loops[{function, at->loop}] += count;
  }
  if (functions.empty()) return metrics;
  double scalar = 0, packed = 0, hot = 0;
  std::map<std::string, double> shares{
      {"indirect_loads", 0}, {"streaming", 0}, {"strided_access", 0}, {"dependency_chain", 0},
      {"divisions", 0},      {"atomics", 0},   {"branches", 0},       {"math_calls", 0}};
  for (const auto& [place, count] : loops) {
    const auto body = body_of(place);
    const auto code = loop_code(body);
    hot += count;
    const double arithmetic = code.scalar + code.packed;
    if (arithmetic > 0) {
      scalar += count * code.scalar / arithmetic;
      packed += count * code.packed / arithmetic;
    }
    const auto add = [&](const char* name, bool is) { shares[name] += is ? percent(count) : 0; };
    add("indirect_loads", code.indirect);
    add("strided_access", code.strided);
    add("dependency_chain", code.chained);
    add("divisions", code.divides);
    add("streaming", code.streams);
    add("atomics", code.atomics > 0);
    add("branches", code.branches > 0);
    add("math_calls", code.calls > 0);
  }
  for (const auto& function : functions)
    for (const auto& one : function.instructions)
      metrics["thread_regions_in_loops"] += one.loop >= 0 && starts_threads(one) ? 1 : 0;
  metrics["hot_loops.pct"] = percent(hot);
  for (const auto& [name, share] : shares) metrics[name + ".pct"] = share;
  if (scalar + packed > 0) metrics["packed_arithmetic.pct"] = 100 * packed / (scalar + packed);
  return metrics;
}

}  // namespace ratchet
