#include "kernels/diagnosis/roofline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

namespace ratchet {
namespace {

std::optional<double> ceiling_named(std::span<const Ceiling> ceilings,
                                    std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    const auto found = std::ranges::find(ceilings, name, &Ceiling::what);
    if (found != ceilings.end() && found->value > 0) return found->value;
  }
  return std::nullopt;
}

std::optional<double> metric(const KernelCounters& kernel, const std::string& name) {
  const auto found = kernel.metrics.find(name);
  return found == kernel.metrics.end() ? std::nullopt : std::optional(found->second);
}

/// The sum of a metric over all kernels; empty if one kernel lacks it.
std::optional<double> total(std::span<const KernelCounters> kernels, const std::string& name) {
  if (kernels.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& kernel : kernels) {
    const auto value = metric(kernel, name);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

/// Counted arithmetic of one kind, and the roof above it.
struct CountedFlops {
  std::optional<double> flops;
  std::optional<double> roof;
};

std::optional<double> scalar_total(std::span<const KernelCounters> kernels, char type) {
  const auto of = [&](const char* kind) {
    return total(kernels,
                 std::string("smsp__sass_thread_inst_executed_op_") + type + kind + "_pred_on.sum");
  };
  const auto add = of("add"), multiply = of("mul"), fused = of("fma");
  if (!add || !multiply || !fused) return std::nullopt;
  return *add + *multiply + 2 * *fused;
}

/// FLOPs of instructions on two 16-bit values at once.
std::optional<double> pair_total(std::span<const KernelCounters> kernels) {
  const auto instructions = scalar_total(kernels, 'h');
  return instructions ? std::optional(2 * *instructions) : std::nullopt;
}

/// The kind of arithmetic that comes closest to its roof: a product on tensor cores has little
/// scalar arithmetic beside it.
CountedFlops nearest_arithmetic(std::span<const KernelCounters> kernels,
                                std::span<const Ceiling> ceilings) {
  const auto tensor = [&](const char* source) {
    return total(kernels, std::string("sm__ops_path_tensor_src_") + source + ".sum");
  };
  CountedFlops nearest{scalar_total(kernels, 'f'), compute_ceiling(ceilings, DType::f32)};
  for (const CountedFlops& other :
       {CountedFlops{scalar_total(kernels, 'd'), compute_ceiling(ceilings, DType::f64)},
        CountedFlops{pair_total(kernels), ceiling_named(ceilings, {"fp16_pairs"})},
        CountedFlops{tensor("bf16_dst_fp32"), compute_ceiling(ceilings, DType::bf16)},
        CountedFlops{tensor("fp16"), compute_ceiling(ceilings, DType::f16)},
        CountedFlops{tensor("tf32_dst_fp32"), ceiling_named(ceilings, {"tf32"})},
        CountedFlops{tensor("fp8"), compute_ceiling(ceilings, DType::f8_e4m3)},
        CountedFlops{tensor("int8"), compute_ceiling(ceilings, DType::i8)}}) {
    if (!other.flops || !other.roof) continue;
    const bool closer = !nearest.flops || !nearest.roof ||
                        *other.flops / *other.roof > *nearest.flops / *nearest.roof;
    if (closer) nearest = other;
  }
  return nearest;
}

std::optional<double> share(const std::optional<double>& rate, const std::optional<double>& roof) {
  return rate && roof ? std::optional(*rate / *roof) : std::nullopt;
}

std::string binding_of(const Roofline& roofline) {
  const auto memory = roofline.bandwidth_fraction;
  const auto compute = roofline.compute_fraction;
  if (!memory && !compute) return "unknown";
  if (!compute) return "memory";
  if (!memory) return "compute";
  return *memory >= *compute ? "memory" : "compute";
}

}  // namespace

std::optional<double> bandwidth_ceiling(std::span<const Ceiling> ceilings) {
  return ceiling_named(ceilings, {"copy_bandwidth"});
}

std::optional<double> bandwidth_ceiling(std::span<const Ceiling> ceilings, double bytes) {
  constexpr double kMebi = 1024 * 1024;
  const auto large = bandwidth_ceiling(ceilings);
  std::optional<std::pair<double, double>> below, above;  // size and roof
  for (const int mebibytes : {64, 128, 256, 512}) {
    const auto name = fmt::format("cold_copy_{}MiB", mebibytes);
    const auto roof = ceiling_named(ceilings, {name});
    const double size = mebibytes * kMebi;
    if (!roof) continue;
    if (size <= bytes) below = {size, *roof};
    if (size >= bytes && !above) above = {size, *roof};
  }
  if (!large || (!below && !above)) return large;
  if (!below || !above) return std::max(*large, below ? below->second : above->second);
  if (below->first == above->first) return std::max(*large, below->second);
  const double part = std::log(bytes / below->first) / std::log(above->first / below->first);
  return std::max(*large, below->second + part * (above->second - below->second));
}

std::optional<double> highest_bandwidth(std::span<const Ceiling> ceilings) {
  std::optional<double> highest;
  // What is written last may stay in a cache, so that a cold copy can beat all others.
  for (const auto name : {"copy_bandwidth", "read_bandwidth", "write_bandwidth", "cold_copy_64MiB",
                          "cold_copy_128MiB", "cold_copy_256MiB", "cold_copy_512MiB"})
    if (const auto found = ceiling_named(ceilings, {name}))
      highest = std::max(highest.value_or(0), *found);
  return highest;
}

std::optional<double> cache_ceiling(std::span<const Ceiling> ceilings) {
  return ceiling_named(ceilings, {"l2_read_bandwidth", "l2_bandwidth"});
}

std::optional<double> compute_ceiling(std::span<const Ceiling> ceilings, DType type) {
  switch (type) {
    case DType::f64:
      return ceiling_named(ceilings, {"fp64"});
    case DType::f32:
      return ceiling_named(ceilings, {"fp32"});
    case DType::f16:
      return ceiling_named(ceilings, {"fp16", "bf16"});  // same tensor rate on every NVIDIA part
    case DType::bf16:
      return ceiling_named(ceilings, {"bf16", "fp16"});
    case DType::f8_e4m3:
    case DType::f8_e5m2:
      return ceiling_named(ceilings, {"fp8"});
    case DType::i8:
    case DType::u8:
      return ceiling_named(ceilings, {"int8"});
    default:
      return std::nullopt;
  }
}

std::optional<double> physical_compute_ceiling(std::span<const Ceiling> ceilings, DType type) {
  const auto usual = compute_ceiling(ceilings, type);
  if (!usual) return usual;
  const auto highest = [&](std::initializer_list<std::string_view> names) {
    double most = *usual;
    for (const auto name : names)
      most = std::max(most, ceiling_named(ceilings, {name}).value_or(0));
    return most;
  };
  switch (type) {
    case DType::f32:
      return highest({"tf32", "tf32_of_zeros"});
    case DType::f16:
    case DType::bf16:
      return highest({"fp16_of_zeros", "bf16_of_zeros"});
    case DType::f8_e4m3:
    case DType::f8_e5m2:
      return highest({"fp8_of_zeros"});
    case DType::i8:
    case DType::u8:
      return highest({"int8_of_zeros"});
    default:
      return usual;
  }
}

Roofline place_under_roofs(const std::optional<WorkDone>& work, Nanoseconds median,
                           std::span<const KernelCounters> kernels,
                           std::span<const Ceiling> ceilings) {
  Roofline roofline;
  roofline.binding = "unknown";
  roofline.source = work ? "declared_work" : "counters";
  roofline.bandwidth_ceiling = bandwidth_ceiling(ceilings);
  roofline.compute_ceiling = compute_ceiling(ceilings, work ? work->type : DType::f32);
  if (!(median.value > 0)) return roofline;
  struct {
    std::optional<double> bytes, flops;
  } sum;
  if (work) {
    if (work->bytes > 0) sum.bytes = work->bytes;
    if (work->flops > 0) sum.flops = work->flops;
  } else {
    const auto nearest = nearest_arithmetic(kernels, ceilings);
    sum = {total(kernels, "dram__bytes.sum"), nearest.flops};
    if (nearest.roof) roofline.compute_ceiling = nearest.roof;
  }
  if (sum.bytes) roofline.bandwidth_ceiling = bandwidth_ceiling(ceilings, *sum.bytes);
  const double seconds = median.value * 1e-9;
  if (sum.bytes) roofline.achieved_bytes_per_s = *sum.bytes / seconds;
  if (sum.flops) roofline.achieved_flops_per_s = *sum.flops / seconds;
  if (sum.bytes && sum.flops && *sum.bytes > 0) roofline.intensity = *sum.flops / *sum.bytes;
  roofline.bandwidth_fraction = share(roofline.achieved_bytes_per_s, roofline.bandwidth_ceiling);
  roofline.compute_fraction = share(roofline.achieved_flops_per_s, roofline.compute_ceiling);
  roofline.binding = binding_of(roofline);
  return roofline;
}

std::map<std::string, double> device_independent_metrics(const Timing& timing,
                                                         const Roofline& roofline) {
  std::map<std::string, double> metrics{{"median_ns", timing.median.value}};
  const bool declared = roofline.source == "declared_work";
  if (declared && roofline.achieved_bytes_per_s)
    metrics["achieved_bytes_per_s"] = *roofline.achieved_bytes_per_s;
  if (declared && roofline.achieved_flops_per_s)
    metrics["achieved_flops_per_s"] = *roofline.achieved_flops_per_s;
  return metrics;
}

std::optional<Reason> faster_than_physics(const PhysicsCheck& check) {
  const double seconds = check.median.value * 1e-9;
  const auto beats = [&](double amount, const std::optional<double>& roof) {
    return roof && seconds > 0 && amount / seconds > *roof * (1 + kPhysicsMargin);
  };
  const auto reason = [&](double amount, double roof, std::string_view unit) {
    return Reason{
        "faster_than_physics",
        fmt::format("{:.4g} {} in {:.4g} ns is {:.4g} {}/s, above the ceiling of {:.4g} {}/s",
                    amount, unit, check.median.value, amount / seconds, unit, roof, unit),
        {}};
  };
  if (beats(check.work.flops, check.compute_ceiling)) {
    auto said = reason(check.work.flops, *check.compute_ceiling, "FLOP");
    said.message += fmt::format(" of {} (work.type)", name_of(check.work.type));
    return said;
  }
  const bool cached =
      check.cache_mode == CacheMode::hot || check.work.bytes <= static_cast<double>(check.l2_bytes);
  if (cached) {
    if (beats(check.work.bytes, check.l2_ceiling))
      return reason(check.work.bytes, *check.l2_ceiling, "B");
    return std::nullopt;
  }
  const auto left_in_cache = static_cast<double>(std::min(check.output_bytes, check.l2_bytes));
  const double bytes = std::max(0.0, check.work.bytes - left_in_cache);
  if (beats(bytes, check.bandwidth_ceiling)) return reason(bytes, *check.bandwidth_ceiling, "B");
  return std::nullopt;
}

}  // namespace ratchet
