#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/disassembly/machine_code.h"
#include "kernels/disassembly/sass_signatures.h"
#include "server/facts/machine_code.h"

namespace ratchet {

/// The instructions of a whole binary by opcode and last operand: what signatures are held against.
class OpcodeCounts {
 public:
  explicit OpcodeCounts(std::span<const CodeFunction> functions);

  /// How many instructions one of the condition's opcodes stands for. Tokens are compared whole.
  [[nodiscard]] int count(const CodeCondition& condition) const;
  [[nodiscard]] int count(std::string_view opcodes) const;

 private:
  struct Entry {
    std::vector<std::string> tokens;
    int operand = 0;
    int all = 0;
    int in_loops = 0;
  };
  std::vector<Entry> entries_;
};

/// Whether a method shows in the candidate, against its parent (null: it has none, and what needs
/// one is unknown).
///
/// verified: a way of the signature holds whole, and where there is a parent its code differs in
/// it. absent: none of the opcodes without which the method is not there. unknown: everything
/// else. So neither rests on a missing binary or on code that the parent has as well. Pure and
/// thread-safe.
[[nodiscard]] MethodVerdict verdict_of(const MethodSignature& signature,
                                       const OpcodeCounts& candidate, const OpcodeCounts* parent);

}  // namespace ratchet
