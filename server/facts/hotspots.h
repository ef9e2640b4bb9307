#pragma once

// Where warps waited, by samples of their program counters.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"

namespace ratchet {

/// A place in a kernel where warps were seen waiting, by samples of their program counters.
struct Hotspot {
  std::string kernel;
  std::optional<int> line;  ///< of the source; empty without a disassembler or line information
  std::int64_t offset = 0;  ///< of its most sampled instruction, bytes from the function's start
  std::string instruction;  ///< that instruction; empty without a disassembler
  std::int64_t samples = 0;
  double share = 0;                      ///< of the samples of all kernels, 0..1
  std::map<std::string, double> stalls;  ///< share of this place's samples by reason, the largest

  static constexpr void fields(auto&& visit) {
    using H = Hotspot;
    visit(required("kernel", &H::kernel, "Kernel name."),
          optional("line", &H::line, "Of the source."),
          required("offset", &H::offset, "Of the hottest instruction, bytes."),
          required("instruction", &H::instruction, "The hottest one."),
          required("samples", &H::samples, ""), required("share", &H::share, "Of all samples."),
          required("stalls", &H::stalls, "Share by reason; selected is issuing."));
  }
};

/// Where warps waited: the places with most samples.
struct Hotspots {
  std::vector<Hotspot> places;
  std::int64_t samples = 0;
  std::int64_t dropped = 0;
  double period_cycles = 0;
  std::optional<std::string> degraded_reason;  ///< why there are none, or no lines

  static constexpr void fields(auto&& visit) {
    using H = Hotspots;
    visit(required("places", &H::places, "Most samples first."),
          required("samples", &H::samples, "Of all instructions."),
          required("dropped", &H::dropped, "By the hardware."),
          required("period_cycles", &H::period_cycles, "Between two samples."),
          optional("degraded_reason", &H::degraded_reason, "What is missing, why."));
  }
};

}  // namespace ratchet
