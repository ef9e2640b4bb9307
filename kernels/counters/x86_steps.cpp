#include "kernels/counters/x86_steps.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "server/core/text.h"

namespace ratchet {
namespace {

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

bool in_memory(std::string_view operand) {
  return operand.find('(') != std::string_view::npos;
}

bool on_stack(std::string_view operand) {
  return operand.find("(%rsp") != std::string_view::npos ||
         operand.find("(%rbp") != std::string_view::npos ||
         operand.find("(%rip") != std::string_view::npos;
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

}  // namespace

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

bool is_jump(std::string_view opcode) {
  return opcode.starts_with('j');
}

bool reads_flags(std::string_view opcode) {
  return starts_with_any(opcode, {"cmov", "set", "adc", "sbb"});
}

bool sets_flags(const Step& step) {
  if (step.opcode.starts_with('v'))
    return starts_with_any(step.opcode, {"vcomis", "vucomis", "vptest", "vtest"});
  if (step.target && !step.target->starts_with('r'))
    return starts_with_any(step.opcode, {"comis", "ucomis"});
  return !is_jump(step.opcode) &&
         !starts_with_any(step.opcode,
                          {"mov",  "lea",  "cmov", "set",      "push", "pop",  "not",  "nop",
                           "cvt",  "call", "ret",  "bswap",    "rorx", "shlx", "shrx", "sarx",
                           "mulx", "pdep", "pext", "prefetch", "cltq", "cqto"});
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

bool calculates_integers(const Step& step) {
  return step.target && step.target->starts_with('r') &&
         starts_with_any(step.opcode,
                         {"add", "sub", "imul", "and", "or", "xor", "neg", "not", "sh", "sa"});
}

double latency_of(const Step& step) {
  const bool vector = step.target && step.target->starts_with('v');
  if (divides(step.opcode)) return 12;
  if (vector && calculates(step.opcode)) return 4;
  if (step.opcode.starts_with("imul")) return 3;
  return step.loads && step.sources.empty() ? 0 : 1;
}

double division_cycles(std::string_view operands) {
  constexpr double kOne = 5;
  return operands.find("zmm") != std::string_view::npos ? 2 * kOne : kOne;
}

}  // namespace ratchet
