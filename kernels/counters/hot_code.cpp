#include "kernels/counters/hot_code.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/text.h"

namespace ratchet {
namespace {

using Registers = std::vector<std::string>;

/// One name for all widths of a register: "eax" → "rax", "ymm3" → "v3".
std::string canonical_register(std::string_view name) {
  if (name.size() > 3 && name.substr(1, 2) == "mm") return "v" + std::string(name.substr(3));
  if (name.size() > 1 && name[0] == 'r' && std::isdigit(static_cast<unsigned char>(name[1]))) {
    while (!std::isdigit(static_cast<unsigned char>(name.back()))) name.remove_suffix(1);
    return std::string(name);
  }
  if (name.starts_with('e') || name.starts_with('r')) name.remove_prefix(1);
  if (name == "al" || name == "bl" || name == "cl" || name == "dl") return {'r', name[0], 'x'};
  if (name.ends_with('l') && name.size() == 3) name.remove_suffix(1);
  return "r" + std::string(name);
}

/// Registers named in a text, in order.
Registers registers_in(std::string_view text) {
  Registers found;
  for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    auto end = at + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) ++end;
    found.push_back(canonical_register(text.substr(at + 1, end - at - 1)));
  }
  return found;
}

/// Operands in AT&T order: the last is the destination. Commas inside parentheses do not separate.
std::vector<std::string_view> operands_of(std::string_view text) {
  text = text.substr(0, text.find('#'));
  text = text.substr(0, text.find('<'));
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == ')')) depth += text[i] == '(' ? 1 : -1;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const auto part = trimmed(text.substr(begin, i - begin), " \t");
    if (!part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

bool in_memory(std::string_view operand) {
  return operand.find('(') != std::string_view::npos;
}

bool on_stack(std::string_view operand) {
  return operand.find("(%rsp") != std::string_view::npos ||
         operand.find("(%rbp") != std::string_view::npos ||
         operand.find("(%rip") != std::string_view::npos;
}

/// An instruction taken apart.
struct Step {
  std::string_view opcode;
  Registers address;  ///< of its memory operand
  Registers sources;  ///< registers read, other than the address
  std::optional<std::string> target;
  bool loads = false, stores = false;
  int width = 0;  ///< bytes of the memory operand
};

bool is_jump(std::string_view opcode) {
  return opcode.starts_with('j');
}

/// Of integer instructions with a target.
bool sets_flags(std::string_view opcode) {
  return !starts_with_any(opcode, {"mov", "lea", "cmov", "set", "push", "pop", "not"});
}

/// Reads its destination, as `add` and fused multiply-adds do.
bool updates(std::string_view opcode, std::size_t operands) {
  if (opcode.starts_with("vfm") || opcode.starts_with("vfnm") || opcode.starts_with("vpdp"))
    return true;
  if (opcode.starts_with('v')) return false;
  constexpr std::array<std::string_view, 8> kPlain{"mov",  "lea",   "cvt",   "sqrt",
                                                   "pmov", "pshuf", "rsqrt", "set"};
  return operands > 1 && std::ranges::none_of(kPlain, [&](std::string_view name) {
           return opcode.starts_with(name);
         });
}

int width_of(std::string_view opcode, std::string_view operands) {
  if (operands.find("zmm") != std::string_view::npos) return 64;
  if (operands.find("ymm") != std::string_view::npos) return 32;
  const auto use = vector_use(opcode, operands);
  if (use == VectorUse::packed) return 16;
  if (use == VectorUse::scalar) return opcode.ends_with('d') ? 8 : 4;
  for (const auto& name : registers_in(operands))
    if (operands.find("%" + name) != std::string_view::npos) return 8;
  return 4;
}

Step step_of(const Instruction& instruction) {
  Step step{.opcode = instruction.opcode};
  const auto parts = operands_of(instruction.operands);
  const bool compares = starts_with_any(
      step.opcode, {"cmp", "test", "ucomis", "vucomis", "comis", "vcomis", "push", "prefetch"});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size() && !compares && !is_jump(step.opcode);
    if (in_memory(parts[i])) {
      if (step.opcode.starts_with("lea") || step.opcode.starts_with("nop")) {
        for (auto& name : registers_in(parts[i])) step.sources.push_back(std::move(name));
        continue;
      }
      if (!on_stack(parts[i])) step.address = registers_in(parts[i]);
      step.loads = step.loads || !last || updates(step.opcode, parts.size());
      step.stores = step.stores || last;
      step.width = on_stack(parts[i]) ? 0 : width_of(step.opcode, instruction.operands);
      continue;
    }
    auto names = registers_in(parts[i]);
    if (names.empty()) continue;
    if (last) {
      step.target = names.front();
      if (updates(step.opcode, parts.size())) step.sources.push_back(names.front());
    } else {
      step.sources.push_back(names.front());
    }
  }
  // Clearing: the old value does not matter.
  const bool clears = step.opcode.find("xor") != std::string_view::npos && parts.size() >= 2 &&
                      parts[0] == parts[1];
  if (clears) step.sources.clear();
  if (starts_with_any(step.opcode, {"inc", "dec", "neg", "not"}) && step.target)
    step.sources.push_back(*step.target);
  return step;
}

bool divides(std::string_view opcode) {
  if (opcode.starts_with('v')) opcode.remove_prefix(1);
  return starts_with_any(opcode, {"div", "idiv", "sqrt"});
}

bool calculates(std::string_view opcode) {
  if (opcode.starts_with('v')) opcode.remove_prefix(1);
  return starts_with_any(opcode, {"add", "sub", "mul", "div", "sqrt", "fm", "fnm", "max", "min",
                                  "padd", "psub", "pmul", "pmax", "pmin", "pabs", "pdp"});
}

/// Cycles from operands to result, without a load: typical of the last ten years' x86-64 processors
/// (see Agner Fog's instruction tables).
double latency_of(const Step& step) {
  const bool vector = step.target && step.target->starts_with('v');
  if (divides(step.opcode)) return 12;
  if (vector && calculates(step.opcode)) return 4;
  if (step.opcode.starts_with("imul")) return 3;
  return step.loads && step.sources.empty() ? 0 : 1;
}

constexpr double kLoadLatency = 4;  // cycles, from the first-level cache

/// Cycles by which one turn's results lag behind those of the turn before.
double recurrence_of(const std::vector<Step>& steps) {
  std::map<std::string, double> ready;
  double growth = 0;
  constexpr int kTurns = 4;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto before = ready;
    for (const auto& step : steps) {
      if (!step.target) continue;
      double start = 0;
      for (const auto& name : step.sources) start = std::max(start, ready[name]);
      for (const auto& name : step.address) start = std::max(start, ready[name] + kLoadLatency);
      ready[*step.target] = start + latency_of(step);
    }
    growth = 0;
    for (const auto& [name, when] : before) growth = std::max(growth, ready[name] - when);
  }
  return growth;
}

/// Cycles that one turn's instructions take at least: four start per cycle, but of divisions one in
/// five cycles or more.
double issue_of(const LoopCode& code) {
  constexpr double kStarted = 4, kDivision = 5;
  return std::max({1.0, code.instructions / kStarted, code.divisions * kDivision});
}

/// Conditional jumps inside a turn that go by what the loop loaded, not by a count.
int jumps_by_data(std::span<const Instruction> body, const std::vector<Step>& steps) {
  std::set<std::string> loaded;
  int found = 0;
  for (int turn = 0; turn < 2; ++turn) {
    bool flags = false;
    found = 0;
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
      const auto& step = steps[i];
      if (is_jump(step.opcode)) {
        found += flags && step.opcode != "jmp" ? 1 : 0;
        continue;
      }
      const bool data = (step.loads && !step.address.empty()) ||
                        std::ranges::any_of(step.sources, [&](const std::string& name) {
                          return loaded.contains(name);
                        });
      if (!step.target || (step.target->starts_with('r') && sets_flags(step.opcode))) flags = data;
      if (!step.target) continue;
      if (data)
        loaded.insert(*step.target);
      else
        loaded.erase(*step.target);
    }
  }
  return found;
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
  std::set<std::string> written;
  for (const auto& step : steps)
    if (step.target) written.insert(*step.target);
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

/// Whether an address comes from data that this turn or the one before loaded from a place that
/// moves.
bool indirect(const std::vector<Step>& steps) {
  std::set<std::string> written;
  for (const auto& step : steps)
    if (step.target) written.insert(*step.target);
  std::set<std::string> loaded;
  bool found = false;
  for (int turn = 0; turn < 2; ++turn)
    for (const auto& step : steps) {
      const auto from_data = [&](const std::string& name) { return loaded.contains(name); };
      if (std::ranges::any_of(step.address, from_data)) found = true;
      if (step.opcode.find("gather") != std::string_view::npos) found = true;
      if (!step.target) continue;
      const bool moving = std::ranges::any_of(
          step.address, [&](const std::string& name) { return written.contains(name); });
      const bool plain = step.target->starts_with('r') && step.loads && moving;
      const bool passed = std::ranges::any_of(step.sources, from_data);
      if (plain || passed)
        loaded.insert(*step.target);
      else
        loaded.erase(*step.target);
    }
  return found;
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
    code.divisions += divides(one.opcode) ? 1 : 0;
    // Exchanges with memory are locked without saying so.
    const bool exchanges = one.opcode.starts_with("xchg") && steps[i].stores;
    code.atomics += one.opcode == "lock" || exchanges ? 1 : 0;
    code.calls += one.opcode.starts_with("call") ? 1 : 0;
  }
  code.indirect = indirect(steps);
  code.strided = strides(body, steps);
  code.branches = jumps_by_data(body, steps);
  code.chained = recurrence_of(steps) >= 2 * issue_of(code);
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
      {"indirect_loads", 0}, {"strided_access", 0}, {"dependency_chain", 0}, {"divisions", 0},
      {"atomics", 0},        {"branches", 0},       {"math_calls", 0}};
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
    add("divisions", code.divisions > 0);
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
