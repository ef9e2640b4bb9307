#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/measure/cupti/range_profiler.h"

namespace ratchet::measure {

/// One instruction with its samples.
struct SampledPc {
  std::string function;      ///< linker symbol
  std::uint64_t offset = 0;  ///< bytes from the function's start
  /// Samples by stall reason, such as "long_scoreboard"; "selected" means the instruction issued.
  /// A reason's "_not_issued" variant is kept as a reason of its own.
  std::map<std::string, std::uint64_t> reasons;
};

struct PcSamples {
  std::vector<SampledPc> pcs;
  std::uint64_t total = 0;    ///< including samples of unknown kernels and dropped samples
  std::uint64_t dropped = 0;  ///< by the hardware, because its buffer was full
  double period_cycles = 0;   ///< between two samples of one multiprocessor
};

/// Samples the program counters of a call's warps (CUPTI PC sampling in continuous mode: kernels
/// stay concurrent). A process that has sampled must not time anything.
///
/// Sampling must be enabled before the kernels' code is loaded, which CUDA does at their first
/// launch, so it is the first thing a process does with a kernel. One sampler per process.
///
/// Thread rule: the thread of its `Gpu`; CUPTI starts threads of its own. RAII: the destructor
/// disables sampling.
class PcSampler {
 public:
  PcSampler(const Cupti& cupti, const Gpu& gpu);
  ~PcSampler();
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;

  /// Enables sampling every 2^`period_log2` cycles (5 to 31).
  [[nodiscard]] std::optional<ProfilerFailure> open(unsigned period_log2);

  /// Samples `work`, which returns when the device is idle; it returns false to give up.
  [[nodiscard]] std::optional<ProfilerFailure> sample(const std::function<bool()>& work);

  /// Samples of all calls of `sample`.
  [[nodiscard]] const PcSamples& samples() const { return samples_; }

 private:
  struct Buffer;
  std::optional<ProfilerFailure> name_reasons();
  std::optional<ProfilerFailure> configure(unsigned period_log2);
  std::optional<ProfilerFailure> collect();
  std::optional<ProfilerFailure> failed(const char* step, CUptiResult result) const;

  const Cupti& cupti_;
  const Gpu& gpu_;
  bool enabled_ = false;
  std::map<std::uint32_t, std::string> reasons_;  ///< by CUPTI's index
  std::unique_ptr<Buffer> configured_;            ///< CUPTI writes into it until it is disabled
  PcSamples samples_;
};

/// "long_scoreboard" for "smsp__pcsamp_warps_issue_stalled_long_scoreboard"; a "_not_issued" suffix
/// is kept.
[[nodiscard]] std::string stall_name(const std::string& cupti_name);

}  // namespace ratchet::measure
