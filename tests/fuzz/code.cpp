// Of any listing, each function has at least one instruction, every instruction came from the
// listing, and the counts of a function fit each other.

#include <string_view>

#include "kernels/disassembly/machine_code.h"
#include "server/core/fields.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

void check_view(std::string_view part, std::string_view listing) {
  require(part.empty() || (part.data() >= listing.data() &&
                           part.data() + part.size() <= listing.data() + listing.size()),
          "an instruction is a view into the listing");
}

void check_function(const CodeFunction& function, std::string_view listing, CodeKind kind) {
  require(!function.instructions.empty() || function.loops > 0, "a function has instructions");
  for (const auto& instruction : function.instructions) {
    for (const auto part : {instruction.guard, instruction.opcode, instruction.operands})
      check_view(part, listing);
    require(instruction.loop_depth >= 0 && instruction.loop_depth <= function.loops,
            "an instruction is in no more loops than there are");
    require(instruction.line >= 0, "a line is a number of the source, or 0");
  }
  const auto code = summary_of(function, kind);
  require(code.instructions == static_cast<int>(function.instructions.size()) &&
              code.in_loops <= code.instructions && code.deepest_loop <= code.loops &&
              code.spill_loads + code.spill_stores <= code.instructions,
          "counts of a function fit each other");
  int opcodes = 0;
  for (const auto& [name, count] : code.opcodes) opcodes += count;
  require(opcodes == code.instructions, "every instruction has an opcode");
}

}  // namespace

void code(std::string_view bytes) {
  for (const auto kind : {CodeKind::sass, CodeKind::host, CodeKind::amd})
    for (const auto& function : read_code(bytes, kind, "k.hip"))  // as in the corpus
      check_function(function, bytes, kind);
}

}  // namespace ratchet::fuzz
