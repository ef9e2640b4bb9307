// A report that is accepted has dispatches, finite metrics, and no more dispatches than it may.

#include <cmath>
#include <string_view>

#include "kernels/counters/rocprof_report.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {

void rocprof(std::string_view bytes) {
  const auto report = bytes.starts_with("SQLite") ? read_rocpd(bytes) : read_rocprof(bytes);
  if (!report) {
    require(report.error().code != ErrorCode::internal && !report.error().hint.empty(),
            "a refusal says what to do");
    return;
  }
  require(!report->kernels.empty() && report->kernels.size() <= 1024,
          "a report has one to 1024 dispatches");
  require(!report->format.empty(), "a report names its format");
  for (const auto& kernel : report->kernels) {
    require(!kernel.name.empty(), "a dispatch names its kernel");
    for (const auto& [name, value] : kernel.metrics)
      require(std::isfinite(value), "a metric is a finite number");
  }
}

}  // namespace ratchet::fuzz
