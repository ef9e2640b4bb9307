#pragma once

// The position of a kernel under all roofs of its device, and the headroom that is left.

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
    visit(required<&Ceiling::what>(), required<&Ceiling::value>(),
          required<&Ceiling::unit>("B/s, FLOP/s, OP/s, MHz or s."));
  }
};

/// The traffic of one call at one memory level.
struct RooflineLevel {
  std::string level;  ///< dram, l2 or shared
  double bytes = 0;
  std::optional<double> intensity;  ///< FLOP per byte moved at this level
  double achieved_bytes_per_s = 0;
  std::optional<double>
      ceiling;  ///< measured; for shared memory derived from the width of the chip
  std::optional<double> fraction;
  std::string ceiling_source;  ///< measured, derived or unknown

  static constexpr void fields(auto&& visit) {
    using L = RooflineLevel;
    visit(required<&L::level>("dram, l2 or shared."),
          required<&L::bytes>("Bytes moved by one call."),
          optional<&L::intensity>("FLOP per byte."),
          required<&L::achieved_bytes_per_s>("Achieved bytes/s."),
          optional<&L::ceiling>("Roof, bytes/s."), optional<&L::fraction>("Share of the roof."),
          required<&L::ceiling_source>("measured, derived or unknown."));
  }
};

/// The arithmetic of one type.
struct RooflineCompute {
  std::string type;  ///< fp32, fp64, fp16, bf16, tf32, fp8, int8
  double flops = 0;  ///< of one call
  double achieved_flops_per_s = 0;
  std::optional<double> ceiling;
  std::optional<double> fraction;

  static constexpr void fields(auto&& visit) {
    using C = RooflineCompute;
    visit(required<&C::type>("Type of the arithmetic."),
          required<&C::flops>("Operations of one call."),
          required<&C::achieved_flops_per_s>("Achieved FLOP/s."),
          optional<&C::ceiling>("Measured roof, FLOP/s."),
          optional<&C::fraction>("Share of the roof."));
  }
};

/// The method budget per axis as the cuda-kernel-optimizer package computes it.
struct PackageBudget {
  int compute = 0, memory = 0, latency = 0;

  static constexpr void fields(auto&& visit) {
    using B = PackageBudget;
    visit(required<&B::compute>("Compute methods."), required<&B::memory>("Memory methods."),
          required<&B::latency>("Latency methods."));
  }
};

/// The figures as the cuda-kernel-optimizer package computes them, with its flaws: a missing metric
/// counts as a full gap, and near_peak needs all gaps to be small.
struct CompatibleRoofline {
  double delta_compute = 0.5, delta_memory = 0.5, delta_latency = 0.5;
  double compute_util_pct = 0, memory_util_pct = 0, max_stall_pct = 0;
  PackageBudget axis_budget;
  std::string bound;
  bool near_peak = false;
  bool degraded = false;

  static constexpr void fields(auto&& visit) {
    using C = CompatibleRoofline;
    visit(required<&C::delta_compute>("Gap of the compute axis."),
          required<&C::delta_memory>("Gap of the memory axis."),
          required<&C::delta_latency>("Gap of the latency axis."),
          required<&C::compute_util_pct>("Compute utilization, %."),
          required<&C::memory_util_pct>("Memory utilization, %."),
          required<&C::max_stall_pct>("Share of the largest stall reason, %."),
          required<&C::axis_budget>("Methods per axis."),
          required<&C::bound>("What limits the kernel."),
          required<&C::near_peak>("All gaps are small."),
          required<&C::degraded>("Metrics were missing."));
  }
};

struct RooflineReport {
  double median_ns = 0;
  std::vector<RooflineLevel> levels;
  std::vector<RooflineCompute> compute;
  std::string binding;                 ///< dram, l2, shared, a type, or unknown
  double headroom = 1;                 ///< 1 − fraction of the binding roof; 1 when unknown
  bool stop_target = false;            ///< 90 % of the binding roof is reached
  std::optional<double> least_ns;      ///< lower bound from declared work and measured roofs
  std::optional<double> waves;         ///< of the longest kernel
  std::optional<double> tail_idle;     ///< idle share of the last wave
  std::optional<double> sm_clock_mhz;  ///< during the timing
  CompatibleRoofline compatible;

  static constexpr void fields(auto&& visit) {
    using R = RooflineReport;
    visit(required<&R::median_ns>("Median time of a call, ns."),
          required<&R::levels>("Memory traffic by level."),
          required<&R::compute>("Arithmetic by type."),
          required<&R::binding>("Nearest roof: dram, l2, shared, a type or unknown."),
          required<&R::headroom>("1 − fraction of the binding roof."),
          required<&R::stop_target>("90 % of the binding roof is reached."),
          optional<&R::least_ns>("Lower bound from declared work and measured roofs, ns."),
          optional<&R::waves>("Waves of the longest kernel."),
          optional<&R::tail_idle>("Idle share of the last wave."),
          optional<&R::sm_clock_mhz>("SM clock during the timing, MHz."),
          required<&R::compatible>("The same as cuda-kernel-optimizer computes it."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<Ceiling>();
extern template const FieldTable& table_of<RooflineLevel>();
extern template const FieldTable& table_of<RooflineCompute>();
extern template const FieldTable& table_of<PackageBudget>();
extern template const FieldTable& table_of<CompatibleRoofline>();
extern template const FieldTable& table_of<RooflineReport>();
}  // namespace ratchet::fields_detail
