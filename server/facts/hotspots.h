#pragma once

// Where warps waited, by sampling their program counters.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"

namespace ratchet {

/// A place in a kernel where warps waited.
struct Hotspot {
  std::string kernel;
  std::optional<int> line;  ///< source line; empty without a disassembler or line information
  std::int64_t offset =
      0;  ///< of its most sampled instruction, in bytes from the start of the function
  std::string instruction;  ///< that instruction; empty without a disassembler
  std::int64_t samples = 0;
  double share = 0;  ///< of the samples of all kernels, 0..1
  std::map<std::string, double>
      stalls;  ///< share of this place's samples by reason, largest reasons only

  static constexpr void fields(auto&& visit) {
    using H = Hotspot;
    visit(required<&H::kernel>("Kernel name."), optional<&H::line>("Source line."),
          required<&H::offset>("Offset of the hottest instruction, bytes."),
          required<&H::instruction>("The hottest instruction."),
          required<&H::samples>("Samples here."), required<&H::share>("Share of all samples."),
          required<&H::stalls>("Share of the samples by stall reason; selected: was issuing."));
  }
};

/// The places with the most samples.
struct Hotspots {
  std::vector<Hotspot> places;
  std::int64_t samples = 0;
  std::int64_t dropped = 0;
  double period_cycles = 0;
  std::optional<std::string> degraded_reason;  ///< why there are no places, or no lines

  static constexpr void fields(auto&& visit) {
    using H = Hotspots;
    visit(required<&H::places>("Most samples first."),
          required<&H::samples>("Samples of all instructions."),
          required<&H::dropped>("Samples dropped by the hardware."),
          required<&H::period_cycles>("Cycles between two samples."),
          optional<&H::degraded_reason>("What is missing and why."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<Hotspot>();
extern template const FieldTable& table_of<Hotspots>();
}  // namespace ratchet::fields_detail
