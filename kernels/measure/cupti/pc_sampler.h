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

/// One instruction that was seen under samples.
struct SampledPc {
  std::string function;      ///< as linked
  std::uint64_t offset = 0;  ///< bytes from the function's start
  /// Samples by stall reason, "long_scoreboard"; "selected" is an instruction that issued. Reasons
  /// under which a scheduler that issued nothing was seen are not told apart.
  std::map<std::string, std::uint64_t> reasons;
};

struct PcSamples {
  std::vector<SampledPc> pcs;
  std::uint64_t total = 0;    ///< also those of kernels that are nobody's code, and dropped ones
  std::uint64_t dropped = 0;  ///< by the hardware, for want of room
  double period_cycles = 0;   ///< between two samples of one multiprocessor
};

/// Which instruction the warps of a call stand at, by samples of their program counters (CUPTI PC
/// sampling, continuous: kernels stay concurrent). Nothing that is timed may run in a process that
/// has sampled.
///
/// It must be switched on before the code of the kernels is loaded, which CUDA does at their first
/// launch: so it is the first thing a process does with a kernel. One sampler a process.
///
/// Thread rule: the thread of its `Gpu`; CUPTI starts threads of its own. RAII: sampling ends with
/// the object.
class PcSampler {
 public:
  PcSampler(const Cupti& cupti, const Gpu& gpu);
  ~PcSampler();
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;

  /// Asks the driver for samples every 2^`period_log2` cycles (5 to 31).
  [[nodiscard]] std::optional<ProfilerFailure> open(unsigned period_log2);

  /// Samples `work`, which returns when the device is idle, or false to give up.
  [[nodiscard]] std::optional<ProfilerFailure> sample(const std::function<bool()>& work);

  /// What all calls of `sample` saw.
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

/// "long_scoreboard" of "smsp__pcsamp_warps_issue_stalled_long_scoreboard", also with
/// "_not_issued" behind it.
[[nodiscard]] std::string stall_name(const std::string& cupti_name);

}  // namespace ratchet::measure
