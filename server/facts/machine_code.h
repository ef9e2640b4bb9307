#pragma once

// What a binary contains: functions with their instruction counts, and verdicts about which methods
// show in the code.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"

namespace ratchet {

/// Instruction counts of one function.
struct FunctionCode {
  std::string name;  ///< as in the source, without parameters
  int instructions = 0;
  int loops = 0;                       ///< loops in its control flow
  int deepest_loop = 0;                ///< 1: not nested
  int in_loops = 0;                    ///< instructions inside loops
  int spill_loads = 0;                 ///< from local memory (LDL); of AMD GPUs: from scratch
  int spill_stores = 0;                ///< to local memory (STL), or scratch
  std::map<std::string, int> opcodes;  ///< without modifiers: LDG, FFMA, …
  std::map<std::string, int> widths;   ///< memory accesses by bits: "LDG 128"; host: registers used

  static constexpr void fields(auto&& visit) {
    using F = FunctionCode;
    visit(required<&F::name>("Function."),
          required<&F::instructions>("Instructions, without padding."),
          required<&F::loops>("Loops."), required<&F::deepest_loop>("Deepest nesting."),
          required<&F::in_loops>("Instructions inside loops."),
          required<&F::spill_loads>("Loads from local memory (LDL); AMD: from scratch."),
          required<&F::spill_stores>("Stores to local memory (STL); AMD: to scratch."),
          required<&F::opcodes>("Instructions by opcode."),
          required<&F::widths>("Memory accesses by width in bits; on the host: registers used."));
  }
};

/// `verified`: the binary shows the method, and more so than the parent. `absent`: the method would
/// show, and does not. `unknown`: the code cannot tell.
enum class CodeVerdict { verified, absent, unknown };
constexpr auto enum_names(CodeVerdict) {
  using enum CodeVerdict;
  return as_written<verified, absent, unknown>();
}

struct MethodVerdict {
  std::string id;  ///< of the method registry
  CodeVerdict verdict = CodeVerdict::unknown;
  std::vector<std::string> found;    ///< conditions that hold, with counts
  std::vector<std::string> missing;  ///< conditions that do not
  std::string note;                  ///< why unknown, or the basis of the verdict

  static constexpr void fields(auto&& visit) {
    using M = MethodVerdict;
    visit(required<&M::id>("Method id."), required<&M::verdict>("verified, absent or unknown."),
          required<&M::found>("Conditions that hold, with counts (and the parent's)."),
          required<&M::missing>("Conditions that do not hold."),
          required<&M::note>("Basis of the verdict."));
  }
};

struct SassCheck {
  std::string candidate_digest;  ///< of the inspected binary
  std::string parent_digest;     ///< of the parent's binary; empty without a parent
  std::string arch;
  std::string disassembler;                ///< program and version; empty when there is none
  std::optional<std::string> unavailable;  ///< why nothing could be disassembled
  std::vector<MethodVerdict> methods;

  static constexpr void fields(auto&& visit) {
    using S = SassCheck;
    visit(required<&S::candidate_digest>("SHA-256 of the inspected binary."),
          required<&S::parent_digest>("SHA-256 of the parent's binary; empty: no parent."),
          required<&S::arch>("Architecture."), required<&S::disassembler>("Program and version."),
          optional<&S::unavailable>("Why there is no code to inspect."),
          required<&S::methods>("Verdict per method."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<FunctionCode>();
extern template const FieldTable& table_of<MethodVerdict>();
extern template const FieldTable& table_of<SassCheck>();
}  // namespace ratchet::fields_detail
