#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/machine_code.h"

namespace ratchet {

// Parses the output of disassemblers. Pure and thread-safe.

/// One instruction. The views point into the listing.
struct Instruction {
  std::uint64_t address = 0;
  std::string_view guard;     ///< "@P0", "@!UP1"; empty when it always executes
  std::string_view opcode;    ///< "LDG.E.128.CONSTANT"
  std::string_view operands;  ///< as printed
  int line = 0;               ///< of the source, 0 unknown
  int loop_depth = 0;         ///< 0: not in a loop
  int loop = -1;              ///< the innermost loop, numbered per function; -1: none
};

struct CodeFunction {
  std::string name;  ///< as linked
  std::vector<Instruction> instructions;
  int loops = 0;
};

/// sass: output of cuobjdump and nvdisasm. host: output of objdump for x86-64 and AArch64. amd:
/// output of llvm-objdump -l for AMD GPUs.
enum class CodeKind { sass, host, amd };

/// How an x86-64 instruction uses vector registers: not at all, for one element (`ss`, `sd`), or
/// for several.
enum class VectorUse { none, scalar, packed };
[[nodiscard]] VectorUse vector_use(std::string_view opcode, std::string_view operands);

/// The functions of a listing, in order, with the loop depth of every instruction (see
/// code_loops.h). Unrecognized lines, padding (NOP, a branch to itself) and what the C runtime adds
/// to a host library are skipped; an empty result means that nothing was recognized. `file`: of
/// amd, the name of the source. What is inlined from other files has no line: the listing does not
/// say where it was called.
[[nodiscard]] std::vector<CodeFunction> read_code(std::string_view listing, CodeKind kind,
                                                  std::string_view file = {});

/// Counts of one function, for display and for signatures.
[[nodiscard]] FunctionCode summary_of(const CodeFunction& function, CodeKind kind);

/// "softmax<4>" from a mangled name, without parameters. Names that stand for far longer ones stay
/// as they are.
[[nodiscard]] std::string source_name(const std::string& linked);

}  // namespace ratchet
