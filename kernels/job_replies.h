#pragma once

// What a worker answers. See job.h for the roles.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/correctness.h"
#include "server/facts/environment.h"
#include "server/facts/profile.h"

namespace ratchet::job {

/// Raw samples in launch order.
struct Samples {
  std::vector<double> elapsed_ns;
  std::vector<double> clock_mhz;   ///< parallel to elapsed_ns, or empty when the device cannot tell
  std::vector<std::string> flags;  ///< launch_gap_included, unsynchronised_work, …
  bool time_limit_hit = false;
  std::string conditions;  ///< which clock, which cores: for people

  static constexpr auto fields() {
    return std::tuple{required("elapsed_ns", &Samples::elapsed_ns, ""),
                      required("clock_mhz", &Samples::clock_mhz, ""),
                      required("flags", &Samples::flags, ""),
                      required("time_limit_hit", &Samples::time_limit_hit, ""),
                      required("conditions", &Samples::conditions, "")};
  }
};

/// What a call launched, seen from outside the kernel (CUPTI Activity).
struct LaunchRecord {
  std::string kernel;
  double start_ns = 0;
  double end_ns = 0;
  std::vector<int> grid;
  std::vector<int> block;
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t stream = 0;

  static constexpr auto fields() {
    using L = LaunchRecord;
    return std::tuple{required("kernel", &L::kernel, ""),
                      required("start_ns", &L::start_ns, ""),
                      required("end_ns", &L::end_ns, ""),
                      required("grid", &L::grid, ""),
                      required("block", &L::block, ""),
                      required("registers", &L::registers, ""),
                      required("static_shared_bytes", &L::static_shared_bytes, ""),
                      required("dynamic_shared_bytes", &L::dynamic_shared_bytes, ""),
                      required("stream", &L::stream, "")};
  }
};

/// What one whole call did on the device, on all streams.
struct CallSpan {
  int launches = 0;
  double span_ns = 0;  ///< from the start of the first kernel to the end of the last one

  static constexpr auto fields() {
    return std::tuple{required("launches", &CallSpan::launches, ""),
                      required("span_ns", &CallSpan::span_ns, "")};
  }
};

/// One instruction that warps were seen at.
struct PcSample {
  std::string function;  ///< as linked
  std::int64_t offset = 0;
  std::map<std::string, std::int64_t> reasons;  ///< samples by stall reason

  static constexpr auto fields() {
    using P = PcSample;
    return std::tuple{required("function", &P::function, ""), required("offset", &P::offset, ""),
                      required("reasons", &P::reasons, "")};
  }
};

/// Where the warps of a call stood. The instructions seen most often; `total` counts all.
struct PcSamples {
  std::vector<PcSample> pcs;
  std::int64_t total = 0;
  std::int64_t dropped = 0;
  double period_cycles = 0;
  int calls = 0;
  std::optional<std::string> unavailable;  ///< why there are none

  static constexpr auto fields() {
    using P = PcSamples;
    return std::tuple{
        required("pcs", &P::pcs, ""),         required("total", &P::total, ""),
        required("dropped", &P::dropped, ""), required("period_cycles", &P::period_cycles, ""),
        required("calls", &P::calls, ""),     optional("unavailable", &P::unavailable, "")};
  }
};

struct Counters {
  std::vector<KernelCounters> kernels;  ///< merged with launch facts as launch__* metrics
  std::vector<LaunchRecord> launches;
  std::vector<CallSpan> calls;  ///< several, without counters; empty where kernels are not seen
  std::vector<std::string> unknown_metrics;
  std::string engine;                      ///< cupti, perf_event or none
  std::string cache;                       ///< flushed or as_is
  std::optional<std::string> unavailable;  ///< why there are no counters, and how to get them
  std::optional<PcSamples> samples;        ///< where they were asked for

  static constexpr auto fields() {
    using C = Counters;
    return std::tuple{required("kernels", &C::kernels, ""),
                      required("launches", &C::launches, ""),
                      required("calls", &C::calls, ""),
                      required("unknown_metrics", &C::unknown_metrics, ""),
                      required("engine", &C::engine, ""),
                      required("cache", &C::cache, ""),
                      optional("unavailable", &C::unavailable, ""),
                      optional("samples", &C::samples, "")};
  }
};

struct CeilingValue {
  std::string what;
  double value = 0;
  std::string unit;

  static constexpr auto fields() {
    return std::tuple{required("what", &CeilingValue::what, ""),
                      required("value", &CeilingValue::value, ""),
                      required("unit", &CeilingValue::unit, "")};
  }
};

/// What else is wrong with one output, beside its distance from the expected values.
struct OutputState {
  std::int64_t unwritten = 0;   ///< wrong elements that still hold the poison they were sent with
  std::int64_t unexpected = 0;  ///< NaN or infinity where the expected value is another one
  bool right = true;            ///< enough of it matches

  static constexpr auto fields() {
    return std::tuple{required("unwritten", &OutputState::unwritten, ""),
                      required("unexpected", &OutputState::unexpected, ""),
                      required("right", &OutputState::right, "")};
  }
};

/// What the reference made of a trial.
struct Answered {
  bool writes_all = true;                ///< no stretch of poison came through
  std::optional<std::string> unwritten;  ///< an output that it left alone altogether
  bool same_as_before = false;           ///< all bits of the answer to the trial without a change

  static constexpr auto fields() {
    return std::tuple{required("writes_all", &Answered::writes_all, ""),
                      optional("unwritten", &Answered::unwritten, ""),
                      required("same_as_before", &Answered::same_as_before, "")};
  }
};

/// Verdict of one Compare.
struct Comparison {
  bool guards_intact = true;
  bool inputs_intact = true;
  std::optional<std::string> touched;  ///< the buffer beside the broken guard, or the changed input
  bool passed = false;                 ///< all outputs within tolerance, guards and inputs intact
  std::vector<OutputError> outputs;
  std::vector<OutputState> states;  ///< parallel to `outputs`

  static constexpr auto fields() {
    using C = Comparison;
    return std::tuple{required("guards_intact", &C::guards_intact, ""),
                      required("inputs_intact", &C::inputs_intact, ""),
                      optional("touched", &C::touched, ""),
                      required("passed", &C::passed, ""),
                      required("outputs", &C::outputs, ""),
                      required("states", &C::states, "")};
  }
};

/// Worker to server. The first reply, unasked, is READY: `device` set.
/// `fault`: the kernel's doing. `error`: ours (out of memory for our own buffers, no device).
struct Reply {
  std::optional<Fault> fault;
  std::optional<std::string> error;
  std::optional<DeviceInfo> device;
  std::optional<std::string> sandbox;
  std::optional<Samples> samples;
  std::optional<Counters> counters;
  std::optional<int> uses;        ///< of a collected arena: its calls since it was prepared
  std::optional<bool> forged;     ///< false: the control has nothing to offer for this layout
  std::optional<bool> same_bits;  ///< of a Weigh after a Pose `again`
  std::optional<Answered> answered;
  std::optional<Comparison> comparison;
  std::optional<std::vector<CeilingValue>> ceilings;

  static constexpr auto fields() {
    using R = Reply;
    return std::tuple{optional("fault", &R::fault, ""),
                      optional("error", &R::error, ""),
                      optional("device", &R::device, ""),
                      optional("sandbox", &R::sandbox, ""),
                      optional("samples", &R::samples, ""),
                      optional("counters", &R::counters, ""),
                      optional("uses", &R::uses, ""),
                      optional("forged", &R::forged, ""),
                      optional("same_bits", &R::same_bits, ""),
                      optional("answered", &R::answered, ""),
                      optional("comparison", &R::comparison, ""),
                      optional("ceilings", &R::ceilings, "")};
  }
};

}  // namespace ratchet::job
