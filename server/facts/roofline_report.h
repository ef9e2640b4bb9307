#pragma once

// Where a kernel stands under all the roofs of its device, and how much there is to win.

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"

namespace ratchet {

/// A measured roof of a device.
struct Ceiling {
  std::string what;  ///< copy_bandwidth, read_bandwidth, fp32, …
  double value = 0;
  std::string unit;  ///< B/s, FLOP/s, OP/s, MHz or s

  static constexpr void fields(auto&& visit) {
    visit(required("what", &Ceiling::what, ""), required("value", &Ceiling::value, ""),
          required("unit", &Ceiling::unit, "B/s, FLOP/s, OP/s, MHz or s."));
  }
};

/// One level of memory: what the kernels of a call moved there.
struct RooflineLevel {
  std::string level;  ///< dram, l2 or shared
  double bytes = 0;
  std::optional<double> intensity;  ///< FLOP per byte moved at this level
  double achieved_bytes_per_s = 0;
  std::optional<double> ceiling;  ///< measured, or for shared memory by the chip's width
  std::optional<double> fraction;
  std::string ceiling_source;  ///< measured, derived or unknown

  static constexpr void fields(auto&& visit) {
    using L = RooflineLevel;
    visit(required("level", &L::level, "dram, l2 or shared."),
          required("bytes", &L::bytes, "Moved by one call."),
          optional("intensity", &L::intensity, "FLOP per byte."),
          required("achieved_bytes_per_s", &L::achieved_bytes_per_s, "Bytes/s."),
          optional("ceiling", &L::ceiling, "Bytes/s."),
          optional("fraction", &L::fraction, "Of the ceiling."),
          required("ceiling_source", &L::ceiling_source, "Where it is from."));
  }
};

/// Arithmetic of one type.
struct RooflineCompute {
  std::string type;  ///< fp32, fp64, fp16, bf16, tf32, fp8, int8
  double flops = 0;  ///< of one call
  double achieved_flops_per_s = 0;
  std::optional<double> ceiling;
  std::optional<double> fraction;

  static constexpr void fields(auto&& visit) {
    using C = RooflineCompute;
    visit(required("type", &C::type, "Type of the arithmetic."),
          required("flops", &C::flops, "Of one call."),
          required("achieved_flops_per_s", &C::achieved_flops_per_s, "FLOP/s."),
          optional("ceiling", &C::ceiling, "Measured, FLOP/s."),
          optional("fraction", &C::fraction, "Of the ceiling."));
  }
};

/// The package's budget: how many methods of each axis.
struct PackageBudget {
  int compute = 0, memory = 0, latency = 0;

  static constexpr void fields(auto&& visit) {
    using B = PackageBudget;
    visit(required("compute", &B::compute, ""), required("memory", &B::memory, ""),
          required("latency", &B::latency, ""));
  }
};

/// The figures as the cuda-kernel-optimizer package has them, faults included: a missing metric is
/// a full gap, and near_peak needs all gaps small.
struct CompatibleRoofline {
  double delta_compute = 0.5, delta_memory = 0.5, delta_latency = 0.5;
  double compute_util_pct = 0, memory_util_pct = 0, max_stall_pct = 0;
  PackageBudget axis_budget;
  std::string bound;
  bool near_peak = false;
  bool degraded = false;

  static constexpr void fields(auto&& visit) {
    using C = CompatibleRoofline;
    visit(required("delta_compute", &C::delta_compute, ""),
          required("delta_memory", &C::delta_memory, ""),
          required("delta_latency", &C::delta_latency, ""),
          required("compute_util_pct", &C::compute_util_pct, ""),
          required("memory_util_pct", &C::memory_util_pct, ""),
          required("max_stall_pct", &C::max_stall_pct, ""),
          required("axis_budget", &C::axis_budget, ""), required("bound", &C::bound, ""),
          required("near_peak", &C::near_peak, ""), required("degraded", &C::degraded, ""));
  }
};

struct RooflineReport {
  double median_ns = 0;
  std::vector<RooflineLevel> levels;
  std::vector<RooflineCompute> compute;
  std::string binding;              ///< dram, l2, shared, a type, or unknown
  double headroom = 1;              ///< 1 − fraction of the binding roof; 1 when nothing is known
  bool stop_target = false;         ///< 90 % of the binding roof is reached
  std::optional<double> least_ns;   ///< by declared work and measured ceilings
  std::optional<double> waves;      ///< of the longest kernel
  std::optional<double> tail_idle;  ///< share of the last wave that is empty
  std::optional<double> sm_clock_mhz;  ///< during the timing
  CompatibleRoofline compatible;

  static constexpr void fields(auto&& visit) {
    using R = RooflineReport;
    visit(required("median_ns", &R::median_ns, "Time of a call."),
          required("levels", &R::levels, "Memory, level by level."),
          required("compute", &R::compute, "Arithmetic by type."),
          required("binding", &R::binding, "Nearest roof."),
          required("headroom", &R::headroom, "1 − fraction of the binding roof."),
          required("stop_target", &R::stop_target, "90 % of the binding roof is reached."),
          optional("least_ns", &R::least_ns, "By declared work and ceilings."),
          optional("waves", &R::waves, "Of the longest kernel."),
          optional("tail_idle", &R::tail_idle, "Empty share of the last wave."),
          optional("sm_clock_mhz", &R::sm_clock_mhz, "While it was timed."),
          required("compatible", &R::compatible, "As cuda-kernel-optimizer computes it."));
  }
};

}  // namespace ratchet
