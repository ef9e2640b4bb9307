// Instructions of a function, counted by opcode and width.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "kernels/disassembly/machine_code.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

std::string_view base_of(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

bool has_modifier(std::string_view opcode, std::string_view modifier) {
  while (!opcode.empty()) {
    const auto dot = opcode.find('.');
    if (opcode.substr(0, dot) == modifier) return true;
    if (dot == std::string_view::npos) return false;
    opcode.remove_prefix(dot + 1);
  }
  return false;
}

/// Bits per lane that a memory instruction moves; empty for other instructions.
std::optional<int> sass_width(std::string_view opcode) {
  constexpr std::array<std::string_view, 9> kMemory{"LDG", "STG", "LDS", "STS",   "LDL",
                                                    "STL", "LD",  "ST",  "LDGSTS"};
  if (std::ranges::find(kMemory, base_of(opcode)) == kMemory.end()) return std::nullopt;
  for (const auto& [modifier, bits] : std::initializer_list<std::pair<std::string_view, int>>{
           {"256", 256}, {"128", 128}, {"64", 64}, {"U16", 16}, {"S16", 16}, {"U8", 8}, {"S8", 8}})
    if (has_modifier(opcode, modifier)) return bits;
  return 32;
}

/// The same for AMD GPUs: global_load_dwordx4, ds_read_b64, buffer_store_short, global_load_b128.
std::optional<int> amd_width(std::string_view opcode) {
  if (!starts_with_any(opcode, {"global_", "flat_", "buffer_", "scratch_", "ds_read", "ds_write",
                                "ds_load", "ds_store"}) ||
      opcode.find("atomic") != std::string_view::npos)
    return std::nullopt;
  const bool two = starts_with_any(opcode, {"ds_read2", "ds_write2", "ds_load_2", "ds_store_2"});
  for (const auto& [part, bits] :
       std::initializer_list<std::pair<std::string_view, int>>{{"dwordx4", 128},
                                                               {"dwordx3", 96},
                                                               {"dwordx2", 64},
                                                               {"dword", 32},
                                                               {"b128", 128},
                                                               {"b96", 96},
                                                               {"b64", 64},
                                                               {"b32", 32},
                                                               {"b16", 16},
                                                               {"b8", 8},
                                                               {"short", 16},
                                                               {"byte", 8},
                                                               {"u16", 16},
                                                               {"i16", 16},
                                                               {"u8", 8},
                                                               {"i8", 8}})
    if (opcode.find(part) != std::string_view::npos) return two ? 2 * bits : bits;
  return std::nullopt;
}

/// Without how it is encoded.
std::string_view amd_base(std::string_view opcode) {
  for (const std::string_view encoding : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (opcode.ends_with(encoding)) opcode.remove_suffix(encoding.size());
  return opcode;
}

/// Private memory: spilled registers, and arrays that are indexed by variables. Where there are no
/// instructions of its own for it, its buffer is that of the first four scalar registers.
bool is_private_access(const Instruction& instruction) {
  return instruction.opcode.starts_with("scratch_") ||
         (instruction.opcode.starts_with("buffer_") &&
          instruction.operands.find("s[0:3], 0") != std::string_view::npos);
}

std::string_view base_of(const Instruction& instruction, CodeKind kind) {
  if (kind == CodeKind::sass) return base_of(instruction.opcode);
  return kind == CodeKind::amd ? amd_base(instruction.opcode) : instruction.opcode;
}

/// The widest vector register an instruction names.
std::optional<int> host_width(std::string_view operands) {
  for (const auto& [name, bits] : std::initializer_list<std::pair<std::string_view, int>>{
           {"zmm", 512}, {"ymm", 256}, {"xmm", 128}})
    if (operands.find(name) != std::string_view::npos) return bits;
  return std::nullopt;
}

}  // namespace

VectorUse vector_use(std::string_view opcode, std::string_view operands) {
  if (!host_width(operands)) return VectorUse::none;
  if (opcode.starts_with('v')) opcode.remove_prefix(1);
  // Names with p are packed integers ("pmaxsd"), except for single elements in and out.
  if (starts_with_any(opcode, {"pextr", "pinsr"})) return VectorUse::scalar;
  if (opcode.starts_with('p')) return VectorUse::packed;
  if (opcode.ends_with("ss") || opcode.ends_with("sd")) return VectorUse::scalar;
  const bool one =
      starts_with_any(opcode, {"cvtss", "cvtsd", "cvttss", "cvttsd", "cvtsi", "cvtusi"});
  return one || opcode == "movd" || opcode == "movq" ? VectorUse::scalar : VectorUse::packed;
}

FunctionCode summary_of(const CodeFunction& function, CodeKind kind) {
  FunctionCode code;
  code.name = source_name(function.name);
  code.instructions = static_cast<int>(function.instructions.size());
  code.loops = function.loops;
  for (const auto& instruction : function.instructions) {
    const std::string base(base_of(instruction, kind));
    ++code.opcodes[base];
    code.deepest_loop = std::max(code.deepest_loop, instruction.loop_depth);
    code.in_loops += instruction.loop_depth > 0 ? 1 : 0;
    if (kind == CodeKind::host) {
      if (const auto bits = host_width(instruction.operands))
        ++code.widths[vector_use(instruction.opcode, instruction.operands) == VectorUse::scalar
                          ? "scalar in 128-bit registers"
                          : std::to_string(*bits) + "-bit registers"];
      continue;
    }
    if (kind == CodeKind::amd) {
      if (const auto bits = amd_width(base))
        ++code.widths[base.substr(0, base.find('_')) + " " + std::to_string(*bits)];
      if (!is_private_access(instruction)) continue;
      code.spill_loads += base.find("load") != std::string::npos ? 1 : 0;
      code.spill_stores += base.find("store") != std::string::npos ? 1 : 0;
      continue;
    }
    if (const auto bits = sass_width(instruction.opcode))
      ++code.widths[base + " " + std::to_string(*bits)];
    code.spill_loads += base == "LDL" ? 1 : 0;
    code.spill_stores += base == "STL" ? 1 : 0;
  }
  return code;
}

}  // namespace ratchet
