#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/disassembly/machine_code.h"
#include "kernels/disassembly/sass_signatures.h"
#include "server/facts/machine_code.h"

namespace ratchet {

/// The instructions of a whole binary by opcode and last operand, for matching signatures.
class OpcodeCounts {
 public:
  explicit OpcodeCounts(std::span<const CodeFunction> functions);

  /// Number of instructions that match the condition. Tokens are compared whole.
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

/// Whether the candidate's code shows a method, compared with its parent's (null: no parent;
/// methods that need one are unknown).
///
/// verified: one way of the signature holds completely and, if there is a parent, the code differs
/// from it in that way. absent: none of the opcodes that the method requires. unknown: everything
/// else. Neither verdict rests on a missing binary or on code that the parent has as well. Pure and
/// thread-safe.
[[nodiscard]] MethodVerdict verdict_of(const MethodSignature& signature,
                                       const OpcodeCounts& candidate, const OpcodeCounts* parent);

}  // namespace ratchet
