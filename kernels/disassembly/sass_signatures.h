#pragma once

#include <array>
#include <span>
#include <string_view>

namespace ratchet {

/// How a count in the candidate must relate to the count in its parent.
enum class Relation {
  rises,       ///< at least one, and more than in the parent
  appears,     ///< at least one, and none in the parent
  multiplies,  ///< some in the parent, and `least` times as many or more
  falls,       ///< fewer than in the parent
  steady,      ///< not more than in the parent
  present,     ///< at least one
  none,        ///< not one
};

/// One condition on the instructions of a binary.
struct CodeCondition {
  Relation relation = Relation::present;
  /// Opcodes joined by '|'. Each is a base with modifiers that it must have, in any order, or ('!')
  /// must not have: "LDG.128", "LDG!CONSTANT". Tokens are compared whole: "STS" does not match
  /// "LDGSTS".
  std::string_view opcodes;
  bool in_loop = false;  ///< count only instructions in a loop
  int least = 1;  ///< of rises, appears and present: the least count; of multiplies: the factor
  int least_operand = 0;  ///< the last operand, a number, must be at least this; 0: any
};

/// One way in which a method can show: all conditions must hold.
using CodeWay = std::array<CodeCondition, 4>;  ///< unused conditions have no opcodes

struct MethodSignature {
  std::string_view id;
  std::array<CodeWay, 4> ways{};  ///< unused ways are empty
  /// A binary without any of these opcodes does not use the method; empty: absence cannot be
  /// determined from code.
  std::string_view essential;
  std::string_view evidence;  ///< where else to look if code is not conclusive
};

/// One signature per method of the registry, in its order: compute, memory, latency. The opcodes
/// are those that CUDA 13 generates for sm_80 to sm_120.
[[nodiscard]] std::span<const MethodSignature> method_signatures();

/// By name, or by id ("memory.tiling_smem"). Null for an unknown method.
[[nodiscard]] const MethodSignature* signature_of(std::string_view id);

}  // namespace ratchet
