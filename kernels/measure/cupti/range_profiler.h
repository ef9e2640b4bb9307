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

/// Why a profiling step failed. A lack of permission is reported separately because a user can fix
/// it.
struct ProfilerFailure {
  std::string message;
  bool permission = false;
};

/// The metrics of this chip: their names, their schedule, and the evaluation of raw counts.
/// RAII over CUPTI's host object.
class MetricHost {
 public:
  static std::optional<ProfilerFailure> initialize(const Cupti& cupti);
  /// Makes CUPTI load its chip tables (80 ms or more). Needs no device, so it can run while waiting
  /// for something else. Any thread.
  static void warm_up();

  /// Which counters to assume: all counters of the chip, or those that the driver reports as
  /// available (fewer under virtualization), a query of 110 ms.
  enum class Counters { of_chip, asked_for };
  /// Any thread; with `of_chip` the driver is not called.
  MetricHost(const Cupti& cupti, const Gpu& gpu, Counters counters);
  ~MetricHost();
  MetricHost(const MetricHost&) = delete;
  MetricHost& operator=(const MetricHost&) = delete;

  /// Set when CUPTI does not know the chip or counters are denied.
  [[nodiscard]] const std::optional<ProfilerFailure>& failure() const { return failure_; }

  /// Returns the names that this chip supports; the others are appended to `unknown`.
  [[nodiscard]] std::vector<std::string> known(const std::vector<std::string>& names,
                                               std::vector<std::string>& unknown);

  /// The schedule for `names`; empty, with `failure` set, when the chip cannot count them.
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
  std::vector<std::string> scheduled_;  ///< metrics in the host object; adding takes up to 70 ms
  std::optional<ProfilerFailure> failure_;
};

/// One profiling session on the context; RAII over CUPTI's range profiler.
class RangeProfiler {
 public:
  /// What gets a range: each kernel (which serializes the kernels), or the whole call (whose
  /// kernels may run concurrently).
  enum class Ranges { kernels, call };

  /// The steps of one pass, in order; each returns false to give up.
  struct Pass {
    std::function<bool()> before;  ///< without counters
    std::function<bool()> ready;   ///< counters running; with `Ranges::kernels` its kernels are
                                   ///< ranges too, with `Ranges::call` they are outside the range
    std::function<bool()> work;    ///< the counted work; returns when it has finished
  };

  RangeProfiler(const Cupti& cupti, const Gpu& gpu, Ranges ranges)
      : cupti_(cupti), gpu_(gpu), each_(ranges) {}
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// Runs `pass` as often as the schedule requires (user replay); `image()` then returns the
  /// decoded counters.
  [[nodiscard]] std::optional<ProfilerFailure> profile(const std::vector<std::string>& names,
                                                       std::span<const std::byte> config,
                                                       std::size_t most_ranges, const Pass& pass);

  [[nodiscard]] const std::vector<std::uint8_t>& image() const { return image_; }
  [[nodiscard]] std::size_t ranges() const;
  /// How often the last `profile` ran its pass.
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
