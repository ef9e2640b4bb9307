#pragma once

// What a compiler made of a kernel, read back from the binary: functions, instructions by kind, and
// the verdicts about which methods show in them.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/field.h"

namespace ratchet {

/// One function of a binary, counted.
struct FunctionCode {
  std::string name;  ///< as in the source, without parameters
  int instructions = 0;
  int loops = 0;                       ///< cycles in its flow of control
  int deepest_loop = 0;                ///< 1: not nested
  int in_loops = 0;                    ///< instructions that stand in a loop
  int spill_loads = 0;                 ///< from local memory (LDL)
  int spill_stores = 0;                ///< to local memory (STL)
  std::map<std::string, int> opcodes;  ///< without modifiers: LDG, FFMA, …
  std::map<std::string, int> widths;   ///< memory accesses by bits: "LDG 128"; host: registers used

  static constexpr void fields(auto&& visit) {
    using F = FunctionCode;
    visit(required("name", &F::name, "Function."),
          required("instructions", &F::instructions, "Padding left out."),
          required("loops", &F::loops, "Loops."),
          required("deepest_loop", &F::deepest_loop, "Deepest nesting."),
          required("in_loops", &F::in_loops, "Instructions inside loops."),
          required("spill_loads", &F::spill_loads, "LDL."),
          required("spill_stores", &F::spill_stores, "STL."),
          required("opcodes", &F::opcodes, "Count by opcode."),
          required("widths", &F::widths, "Memory accesses by bits."));
  }
};

/// `verified`: the binary shows the method and shows it more than the parent does. `absent`: it
/// would have to show and does not. `unknown`: neither can be said, and why.
enum class CodeVerdict { verified, absent, unknown };
constexpr auto enum_names(CodeVerdict) {
  return std::array{std::pair{CodeVerdict::verified, "verified"},
                    std::pair{CodeVerdict::absent, "absent"},
                    std::pair{CodeVerdict::unknown, "unknown"}};
}

struct MethodVerdict {
  std::string id;  ///< of the method registry
  CodeVerdict verdict = CodeVerdict::unknown;
  std::vector<std::string> found;    ///< conditions that hold, with counts
  std::vector<std::string> missing;  ///< conditions that do not
  std::string note;                  ///< why unknown, or what the verdict rests on

  static constexpr void fields(auto&& visit) {
    using M = MethodVerdict;
    visit(required("id", &M::id, "Method."),
          required("verdict", &M::verdict, "verified, absent or unknown."),
          required("found", &M::found, "What shows, with counts (parent's)."),
          required("missing", &M::missing, "What does not."), required("note", &M::note, "Why."));
  }
};

struct SassCheck {
  std::string candidate_digest;  ///< of the binary that was looked at
  std::string parent_digest;     ///< of the binary compared with; empty without a parent
  std::string arch;
  std::string disassembler;                ///< program and version; empty when there is none
  std::optional<std::string> unavailable;  ///< why nothing could be disassembled
  std::vector<MethodVerdict> methods;

  static constexpr void fields(auto&& visit) {
    using S = SassCheck;
    visit(required("candidate_digest", &S::candidate_digest, "Binary looked at."),
          required("parent_digest", &S::parent_digest, "Binary compared with."),
          required("arch", &S::arch, "Architecture."),
          required("disassembler", &S::disassembler, "Program and version."),
          optional("unavailable", &S::unavailable, "Why there is no code to see."),
          required("methods", &S::methods, "Verdict per method."));
  }
};

}  // namespace ratchet
