#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/disassembly/machine_code.h"

namespace ratchet {

/// Names of registers, one for all widths: "rax", "v3".
using Registers = std::vector<std::string>;

/// An x86-64 instruction taken apart. Views point into the listing.
struct Step {
  std::string_view opcode;
  Registers address;  ///< of its memory operand
  Registers sources;  ///< registers read, other than the address
  std::optional<std::string> target;
  bool loads = false, stores = false;
  int width = 0;  ///< bytes of the memory operand
};

[[nodiscard]] Step step_of(const Instruction& instruction);

/// Operands in AT&T order: the last is the destination. Commas inside parentheses do not separate.
[[nodiscard]] std::vector<std::string_view> operands_of(std::string_view text);

[[nodiscard]] bool is_jump(std::string_view opcode);
/// Whether its result depends on flags, as of `cmov`, `set` and additions with carry.
[[nodiscard]] bool reads_flags(std::string_view opcode);
[[nodiscard]] bool sets_flags(const Step& step);
/// Divisions and square roots.
[[nodiscard]] bool divides(std::string_view opcode);
/// Arithmetic of the kinds that vector instructions have.
[[nodiscard]] bool calculates(std::string_view opcode);
/// Such arithmetic on integers in general registers.
[[nodiscard]] bool calculates_integers(const Step& step);

/// Cycles from operands to result, without a load: typical of the last ten years' x86-64 processors
/// (see Agner Fog's instruction tables).
[[nodiscard]] double latency_of(const Step& step);
/// Cycles before the next division can start, at least.
[[nodiscard]] double division_cycles(std::string_view operands);

}  // namespace ratchet
