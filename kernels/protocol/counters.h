#pragma once

// Requests and replies for hardware counters. See messages.h for the roles.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/profile.h"

namespace ratchet::wire {

/// How to sample a call's program counters.
struct Sampling {
  int period_log2 = 10;  ///< cycles between two samples of one multiprocessor, as a power of two
  int calls = 1;

  static constexpr void fields(auto&& visit) {
    visit(required("period_log2", &Sampling::period_log2, ""),
          required("calls", &Sampling::calls, ""));
  }
};

/// Reads hardware counters of one call. Never in a process that measures time.
struct Count {
  std::string metric_set;
  std::vector<std::string> metrics;  ///< names; resolved per chip
  std::optional<Sampling> sampling;  ///< taken before the counters

  static constexpr void fields(auto&& visit) {
    visit(required("metric_set", &Count::metric_set, ""), required("metrics", &Count::metrics, ""),
          optional("sampling", &Count::sampling, ""));
  }
};

/// A kernel launch, observed from outside the kernel (CUPTI Activity).
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

  static constexpr void fields(auto&& visit) {
    using L = LaunchRecord;
    visit(required("kernel", &L::kernel, ""), required("start_ns", &L::start_ns, ""),
          required("end_ns", &L::end_ns, ""), required("grid", &L::grid, ""),
          required("block", &L::block, ""), required("registers", &L::registers, ""),
          required("static_shared_bytes", &L::static_shared_bytes, ""),
          required("dynamic_shared_bytes", &L::dynamic_shared_bytes, ""),
          required("stream", &L::stream, ""));
  }
};

/// The device work of one whole call, over all streams.
struct CallSpan {
  int launches = 0;
  double span_ns = 0;  ///< from the start of the first kernel to the end of the last one

  static constexpr void fields(auto&& visit) {
    visit(required("launches", &CallSpan::launches, ""),
          required("span_ns", &CallSpan::span_ns, ""));
  }
};

/// One instruction at which warps were sampled.
struct PcSample {
  std::string function;  ///< as linked
  std::int64_t offset = 0;
  std::map<std::string, std::int64_t> reasons;  ///< samples by stall reason

  static constexpr void fields(auto&& visit) {
    using P = PcSample;
    visit(required("function", &P::function, ""), required("offset", &P::offset, ""),
          required("reasons", &P::reasons, ""));
  }
};

/// Where the warps of a call were sampled: the most frequent instructions; `total` counts all
/// samples.
struct PcSamples {
  std::vector<PcSample> pcs;
  std::int64_t total = 0;
  std::int64_t dropped = 0;
  double period_cycles = 0;
  int calls = 0;
  std::optional<std::string> unavailable;  ///< why there are none

  static constexpr void fields(auto&& visit) {
    using P = PcSamples;
    visit(required("pcs", &P::pcs, ""), required("total", &P::total, ""),
          required("dropped", &P::dropped, ""), required("period_cycles", &P::period_cycles, ""),
          required("calls", &P::calls, ""), optional("unavailable", &P::unavailable, ""));
  }
};

struct Counters {
  std::vector<KernelCounters> kernels;  ///< merged with launch facts as launch__* metrics
  std::vector<LaunchRecord> launches;
  std::vector<CallSpan>
      calls;  ///< from extra calls without counters; empty where kernels cannot be observed
  std::vector<std::string> unknown_metrics;
  std::string engine;                      ///< cupti, perf_event or none
  std::string cache;                       ///< flushed or as_is
  std::optional<std::string> together;     ///< why the launches were counted as one
  std::optional<std::string> unavailable;  ///< why there are no counters, and how to get them
  std::optional<PcSamples> samples;        ///< if requested

  static constexpr void fields(auto&& visit) {
    using C = Counters;
    visit(required("kernels", &C::kernels, ""), required("launches", &C::launches, ""),
          required("calls", &C::calls, ""), required("unknown_metrics", &C::unknown_metrics, ""),
          required("engine", &C::engine, ""), required("cache", &C::cache, ""),
          optional("together", &C::together, ""), optional("unavailable", &C::unavailable, ""),
          optional("samples", &C::samples, ""));
  }
};

}  // namespace ratchet::wire
