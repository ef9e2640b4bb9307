#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/profile.h"

namespace ratchet {

/// What rocprofv3 or rocprof-compute wrote about kernels on an AMD GPU. One entry per dispatch, in
/// order, never merged; a table of metrics that rocprof-compute has averaged is one entry.
struct RocprofReport {
  std::string format;  ///< rocprofv3_csv, rocprofv3_json, rocpd, rocprof_compute_csv
  std::string device;  ///< the product or architecture that it names; empty if none
  std::vector<KernelCounters> kernels;
  std::vector<std::string> unavailable;  ///< metrics without a value in any dispatch
};

/// Whether text is a table or JSON of these tools, by its first line or member. Pure.
[[nodiscard]] bool is_rocprof(std::string_view text);

/// Parses CSV of rocprofv3 (kernel trace, counter collection) and of rocprof-compute (pmc_perf.csv,
/// tables of its analysis), or JSON of rocprofv3.
///
/// Counters keep their names. What has an equivalent among the metrics of a Profile gets its name
/// and unit too: the duration in nanoseconds, launch shape, registers, bytes from and to memory,
/// hit rate of L2, occupancy.
///
/// Pure and thread-safe. Errors: `invalid_argument` for other or damaged text, `too_large` beyond
/// 1024 dispatches.
[[nodiscard]] Result<RocprofReport> read_rocprof(std::string_view text);

/// Parses a rocpd database, rocprofv3's default output. Reads its tables alone, no views or
/// triggers of it, for a bounded time. Thread-safe. Errors: as above, `unavailable` if no memory
/// for it is left.
[[nodiscard]] Result<RocprofReport> read_rocpd(std::string_view bytes);

/// "name<4>" of "void name<4>(float*, int) [clone .kd]", as other engines name kernels. Pure.
[[nodiscard]] std::string plain_kernel_name(const std::string& whole);

/// Adds to a dispatch's counters what has an equivalent in a Profile; see `read_rocprof`. Pure.
void add_equivalents(KernelCounters& kernel);

}  // namespace ratchet
