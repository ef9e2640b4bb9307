#pragma once

// Requests and replies for hardware counters. See messages.h for the roles.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/fields.h"
#include "server/core/text.h"
#include "server/facts/profile.h"

namespace ratchet::wire {

/// How to sample a call's program counters.
struct Sampling {
  int period_log2 = 10;  ///< cycles between two samples of one multiprocessor, as a power of two
  int calls = 1;

  static constexpr void fields(auto&& visit) {
    visit(required<&Sampling::period_log2>(), required<&Sampling::calls>());
  }
};

/// Reads hardware counters of one call. Never in a process that measures time.
struct Count {
  std::vector<std::string> metrics;  ///< names; resolved per chip
  std::optional<Sampling> sampling;  ///< taken before the counters
  bool watches = true;               ///< on a processor: also watches calls, for up to a second

  static constexpr void fields(auto&& visit) {
    visit(required<&Count::metrics>(), optional<&Count::sampling>(), optional<&Count::watches>());
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
    visit(required<&L::kernel>(), required<&L::start_ns>(), required<&L::end_ns>(),
          required<&L::grid>(), required<&L::block>(), required<&L::registers>(),
          required<&L::static_shared_bytes>(), required<&L::dynamic_shared_bytes>(),
          required<&L::stream>());
  }
};

/// The device work of one whole call, over all streams.
struct CallSpan {
  int launches = 0;
  double span_ns = 0;  ///< from the start of the first kernel to the end of the last one

  static constexpr void fields(auto&& visit) {
    visit(required<&CallSpan::launches>(), required<&CallSpan::span_ns>());
  }
};

/// One instruction at which warps were sampled.
struct PcSample {
  std::string function;  ///< as linked
  std::int64_t offset = 0;
  std::map<std::string, std::int64_t> reasons;  ///< samples by stall reason

  static constexpr void fields(auto&& visit) {
    using P = PcSample;
    visit(required<&P::function>(), required<&P::offset>(), required<&P::reasons>());
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
    visit(required<&P::pcs>(), required<&P::total>(), required<&P::dropped>(),
          required<&P::period_cycles>(), required<&P::calls>(), optional<&P::unavailable>());
  }
};

/// Whether a shared object starts and joins threads: time in it is waiting for others.
[[nodiscard]] inline bool is_threads_runtime(std::string_view object) {
  return starts_with_any(object, {"libgomp", "libomp", "libiomp", "libtbb", "libpthread"});
}

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
    visit(required<&C::kernels>(), required<&C::launches>(), required<&C::calls>(),
          required<&C::unknown_metrics>(), required<&C::engine>(), required<&C::cache>(),
          optional<&C::together>(), optional<&C::unavailable>(), optional<&C::samples>());
  }
};

}  // namespace ratchet::wire

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<wire::Sampling>();
extern template const FieldTable& table_of<wire::Count>();
extern template const FieldTable& table_of<wire::LaunchRecord>();
extern template const FieldTable& table_of<wire::CallSpan>();
extern template const FieldTable& table_of<wire::PcSample>();
extern template const FieldTable& table_of<wire::PcSamples>();
extern template const FieldTable& table_of<wire::Counters>();
}  // namespace ratchet::fields_detail
