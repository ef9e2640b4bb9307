#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/measure/cupti/cupti.h"
#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// Why a profiling step failed; permission is told apart because a person can grant it.
struct ProfilerFailure {
  std::string message;
  bool permission = false;
};

/// What this chip can count: names, how to schedule them, how to turn raw counts into values.
/// RAII over CUPTI's host object.
class MetricHost {
 public:
  /// Errors: as text, with the CUPTI error.
  static std::optional<ProfilerFailure> initialise(const Cupti& cupti);
  /// Has CUPTI load its tables of chips (80 ms and more), which needs no device: to be done while
  /// something else is waited for. Any thread.
  static void warm_up();

  /// Which counters the chip is taken to have: all of its kind, or those that the driver says are
  /// free here (under virtualisation some are not), which takes it 110 ms.
  enum class Counters { of_chip, asked_for };
  /// Any thread; with `of_chip` it does not call the driver.
  MetricHost(const Cupti& cupti, const Gpu& gpu, Counters counters);
  ~MetricHost();
  MetricHost(const MetricHost&) = delete;
  MetricHost& operator=(const MetricHost&) = delete;

  /// Set when the chip is not known or counters are refused.
  [[nodiscard]] const std::optional<ProfilerFailure>& failure() const { return failure_; }

  /// Keeps the names this chip has; the others go to `unknown`.
  [[nodiscard]] std::vector<std::string> known(const std::vector<std::string>& names,
                                               std::vector<std::string>& unknown);

  /// The schedule for `names`; empty with `failure` set when the chip cannot count them.
  [[nodiscard]] std::vector<std::byte> configure(const std::vector<std::string>& names);

  /// Values of one range in a decoded counter image, in the order of `names`.
  [[nodiscard]] std::optional<std::vector<double>> evaluate(const std::vector<std::uint8_t>& image,
                                                            std::size_t range,
                                                            const std::vector<std::string>& names);

 private:
  bool ask_driver(const Gpu& gpu);
  void open();
  void close();
  bool named(const std::string& name);
  bool add(const std::vector<std::string>& names);
  bool schedulable(const std::vector<std::string>& names);

  const Cupti& cupti_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;  ///< empty: all counters
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::string> scheduled_;  ///< what the host object holds; choosing takes up to 70 ms
  std::optional<ProfilerFailure> failure_;
};

/// One profiling session on the context; RAII over CUPTI's range profiler.
class RangeProfiler {
 public:
  /// What is counted apart. Kernels with a range each run one after another, those of one call as
  /// they like.
  enum class Ranges { kernels, call };

  /// One pass, step by step; each returns false to give up.
  struct Pass {
    std::function<bool()> before;  ///< without counters
    std::function<bool()> ready;   ///< under the counters; its kernels are ranges, too, with
                                   ///< `Ranges::kernels`, and outside the range with `call`
    std::function<bool()> work;    ///< what is counted; waits for its end
  };

  RangeProfiler(const Cupti& cupti, const Gpu& gpu, Ranges ranges)
      : cupti_(cupti), gpu_(gpu), each_(ranges) {}
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// Runs `pass` as often as the schedule needs (user replay). The decoded image is in `image()`.
  [[nodiscard]] std::optional<ProfilerFailure> profile(const std::vector<std::string>& names,
                                                       std::span<const std::byte> config,
                                                       std::size_t most_ranges, const Pass& pass);

  [[nodiscard]] const std::vector<std::uint8_t>& image() const { return image_; }
  [[nodiscard]] std::size_t ranges() const;
  [[nodiscard]] int passes() const { return passes_; }

 private:
  std::optional<ProfilerFailure> prepare(const std::vector<std::string>& names,
                                         std::span<const std::byte> config,
                                         std::size_t most_ranges);
  /// One pass between start and stop of the counters.
  std::optional<ProfilerFailure> run(const Pass& pass);
  std::optional<ProfilerFailure> failed(const char* step, CUptiResult result) const;

  const Cupti& cupti_;
  const Gpu& gpu_;
  Ranges each_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> image_;
  int passes_ = 0;
};

}  // namespace ratchet::measure
