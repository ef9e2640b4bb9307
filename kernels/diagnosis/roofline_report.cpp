#include "kernels/diagnosis/roofline_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "kernels/diagnosis/diagnosis_metrics.h"
#include "kernels/diagnosis/roofline.h"

namespace ratchet {
namespace {

constexpr double kSharedBytesPerCycle = 128;  // of a multiprocessor, sm_70 to sm_120
constexpr double kSmallGap = 0.1;             // gets no budget
constexpr double kPackageNearPeak = 0.15;

using Names = std::initializer_list<const char*>;

/// Sum over kernels of the sum over names; empty when one kernel lacks one of them.
std::optional<double> total(std::span<const KernelCounters> kernels, Names names) {
  if (kernels.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& kernel : kernels)
    for (const auto* name : names) {
      const auto value = Metrics(kernel.metrics)[name];
      if (!value) return std::nullopt;
      sum += *value;
    }
  return sum;
}

/// FLOPs of scalar instructions: additions and products once, fused ones twice. Those of 16 bits
/// work on two values at once.
std::optional<double> scalar_flops(std::span<const KernelCounters> kernels, char type) {
  const auto name = [&](const char* kind) {
    return std::string("smsp__sass_thread_inst_executed_op_") + type + kind + "_pred_on.sum";
  };
  const auto add = name("add"), multiply = name("mul"), fused = name("fma");
  const auto once = total(kernels, {add.c_str(), multiply.c_str()});
  const auto twice = total(kernels, {fused.c_str()});
  const double values = type == 'h' ? 2 : 1;
  return once && twice ? std::optional(values * (*once + 2 * *twice)) : std::nullopt;
}

std::optional<double> ceiling_of(std::span<const Ceiling> ceilings, const std::string& what) {
  const auto found = std::ranges::find(ceilings, what, &Ceiling::what);
  return found != ceilings.end() && found->value > 0 ? std::optional(found->value) : std::nullopt;
}

std::optional<double> share(double rate, const std::optional<double>& roof) {
  return roof ? std::optional(rate / *roof) : std::nullopt;
}

class Report {
 public:
  explicit Report(const RooflineInput& input)
      : input_(input),
        kernels_(input.profile->kernels),
        seconds_(input.profile->timing.median.value * 1e-9) {
    report_.median_ns = input.profile->timing.median.value;
    if (input.profile->timing.clock) report_.sm_clock_mhz = input.profile->timing.clock->value;
  }

  RooflineReport draw() && {
    if (seconds_ > 0) {
      add_compute();
      add_levels();
    }
    add_shape();
    add_least_time();
    bind();
    return std::move(report_);
  }

 private:
  void arithmetic(const char* type, std::optional<double> flops, std::optional<double> roof) {
    if (!flops || *flops <= 0) return;
    const double rate = *flops / seconds_;
    report_.compute.push_back({type, *flops, rate, roof, share(rate, roof)});
  }

  void add_compute() {
    const auto tensor = [&](const char* source) {
      const auto name = std::string("sm__ops_path_tensor_src_") + source + ".sum";
      return total(kernels_, {name.c_str()});
    };
    const auto roof = [&](DType type) { return compute_ceiling(input_.ceilings, type); };
    arithmetic("fp32", scalar_flops(kernels_, 'f'), roof(DType::f32));
    arithmetic("fp64", scalar_flops(kernels_, 'd'), roof(DType::f64));
    arithmetic("fp16 without tensor cores", scalar_flops(kernels_, 'h'),
               ceiling_of(input_.ceilings, "fp16_pairs"));
    arithmetic("bf16", tensor("bf16_dst_fp32"), roof(DType::bf16));
    arithmetic("fp16", tensor("fp16"), roof(DType::f16));
    arithmetic("tf32", tensor("tf32_dst_fp32"), ceiling_of(input_.ceilings, "tf32"));
    arithmetic("fp8", tensor("fp8"), roof(DType::f8_e4m3));
    arithmetic("int8", tensor("int8"), roof(DType::i8));
    arithmetic("fp64 on tensor cores", tensor("fp64"), std::nullopt);
    if (report_.compute.empty() && input_.work)
      arithmetic(std::string(name_of(input_.work->type)).c_str(), input_.work->flops,
                 roof(input_.work->type));
  }

  void level(const char* name, std::optional<double> bytes, std::optional<double> roof,
             const char* source) {
    if (!bytes || *bytes <= 0) return;
    const double rate = *bytes / seconds_;
    double flops = 0;
    for (const auto& one : report_.compute) flops += one.flops;
    report_.levels.push_back({name, *bytes,
                              flops > 0 ? std::optional(flops / *bytes) : std::nullopt, rate, roof,
                              share(rate, roof), roof ? source : "unknown"});
  }

  void add_levels() {
    auto dram = total(kernels_, {"dram__bytes.sum"});
    if (!dram && input_.work) dram = input_.work->bytes;
    level("dram", dram, bandwidth_ceiling(input_.ceilings, dram.value_or(0)), "measured");
    level("l2",
          total(kernels_,
                {"l1tex__m_xbar2l1tex_read_bytes.sum", "l1tex__m_l1tex2xbar_write_bytes.sum"}),
          cache_ceiling(input_.ceilings), "measured");
    std::optional<double> shared_roof;
    const auto clock = input_.profile->timing.clock;
    if (clock && input_.multiprocessors > 0)
      shared_roof = kSharedBytesPerCycle * input_.multiprocessors * clock->value * 1e6;
    level("shared", total(kernels_, {"sm__sass_data_bytes_mem_shared.sum"}), shared_roof,
          "derived");
  }

  [[nodiscard]] const KernelCounters* longest() const {
    const auto duration = [](const KernelCounters& kernel) {
      return Metrics(kernel.metrics)["gpu__time_duration.sum"].value_or(0);
    };
    return kernels_.empty() ? nullptr : &*std::ranges::max_element(kernels_, {}, duration);
  }

  void add_shape() {
    const auto* const kernel = longest();
    if (kernel == nullptr) return;
    report_.waves = Metrics(kernel->metrics)[metric::kWaves];
    if (report_.waves && *report_.waves > 0)
      report_.tail_idle = 1 - *report_.waves / std::ceil(*report_.waves);
  }

  void add_least_time() {
    if (!input_.work) return;
    const auto memory = bandwidth_ceiling(input_.ceilings, input_.work->bytes);
    const auto compute = compute_ceiling(input_.ceilings, input_.work->type);
    double least = 0;
    if (memory) least = input_.work->bytes / *memory;
    if (compute) least = std::max(least, input_.work->flops / *compute);
    if (least > 0) report_.least_ns = least * 1e9;
  }

  void bind() {
    std::optional<double> best;
    report_.binding = "unknown";
    const auto take = [&](const std::optional<double>& fraction, const std::string& name) {
      if (!fraction || (best && *best >= *fraction)) return;
      best = fraction;
      report_.binding = name;
    };
    for (const auto& one : report_.levels) take(one.fraction, one.level);
    for (const auto& one : report_.compute) take(one.fraction, one.type);
    if (best) report_.headroom = std::clamp(1 - *best, 0.0, 1.0);
    report_.stop_target = best && report_.headroom <= kStopHeadroom;
    add_compatible();
  }

  void add_compatible() {
    auto& package = report_.compatible;
    const auto* const kernel = longest();
    const bool counted = kernel != nullptr && Metrics(kernel->metrics)[metric::kDram].has_value();
    package.degraded = !counted;
    if (counted) {
      const Metrics metrics(kernel->metrics);
      for (const auto* name :
           {metric::kTensor, "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
            metric::kSm})
        package.compute_util_pct = std::max(package.compute_util_pct, metrics[name].value_or(0));
      package.memory_util_pct = metrics[metric::kDram].value_or(0);
      package.delta_compute = std::max(0.0, 1 - package.compute_util_pct / 100);
      package.delta_memory = std::max(0.0, 1 - package.memory_util_pct / 100);
      if (const auto stall = metrics.dominant_stall()) {
        package.max_stall_pct = 100 * stall->second;
        package.delta_latency = std::clamp(stall->second, 0.0, 1.0);
      }
    }
    package.axis_budget =
        package_budget(package.delta_compute, package.delta_memory, package.delta_latency);
    const std::array deltas{std::pair{package.delta_compute, "compute"},
                            std::pair{package.delta_memory, "bandwidth"},
                            std::pair{package.delta_latency, "latency"}};
    package.near_peak = std::ranges::all_of(
        deltas, [](const auto& delta) { return delta.first < kPackageNearPeak; });
    package.bound = package.near_peak ? "near_peak"
                                      : std::ranges::max_element(deltas, {}, [](const auto& delta) {
                                          return delta.first;
                                        })->second;
  }

  const RooflineInput& input_;
  std::span<const KernelCounters> kernels_;
  double seconds_;
  RooflineReport report_;
};

}  // namespace

PackageBudget package_budget(double compute, double memory, double latency) {
  // In the order that breaks ties.
  struct Axis {
    double gap;
    int PackageBudget::* slot;
    double wanted = 0;
  };
  std::array axes{Axis{memory, &PackageBudget::memory}, Axis{latency, &PackageBudget::latency},
                  Axis{compute, &PackageBudget::compute}};
  double sum = 0;
  for (auto& axis : axes) {
    if (axis.gap < kSmallGap) axis.gap = 0;
    sum += axis.gap;
  }
  if (sum <= 0) return {1, 1, 1};
  PackageBudget budget;
  int spent = 0;
  for (auto& axis : axes) {
    axis.wanted = 3 * axis.gap / sum;
    budget.*axis.slot = std::min(2, static_cast<int>(std::nearbyint(axis.wanted)));
    spent += budget.*axis.slot;
  }
  const auto rest = [&](const Axis& axis) { return axis.wanted - budget.*axis.slot; };
  for (; spent < 3; ++spent) {
    auto best = axes.end();
    for (auto axis = axes.begin(); axis != axes.end(); ++axis)
      if (budget.*axis->slot < 2 && (best == axes.end() || rest(*axis) > rest(*best))) best = axis;
    ++(budget.*best->slot);
  }
  for (; spent > 3; --spent) {
    auto worst = axes.begin();
    for (auto axis = axes.begin(); axis != axes.end(); ++axis)
      if (budget.*axis->slot > 0 && rest(*axis) <= rest(*worst)) worst = axis;
    --(budget.*worst->slot);
  }
  return budget;
}

RooflineReport roofline_report(const RooflineInput& input) {
  return Report(input).draw();
}

}  // namespace ratchet
