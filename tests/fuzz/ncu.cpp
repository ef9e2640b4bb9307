// A report that is accepted has launches, finite metrics, and no more launches than it may.

#include <algorithm>
#include <cmath>
#include <string_view>

#include "kernels/counters/ncu_report.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {

void ncu(std::string_view bytes) {
  const auto report = read_ncu_csv(bytes);
  if (!report) {
    require(report.error().code != ErrorCode::internal && !report.error().hint.empty(),
            "a refusal says what to do");
    return;
  }
  require(!report->kernels.empty() && report->kernels.size() <= 1024,
          "a report has one to 1024 launches");
  std::size_t text = 0;
  for (const auto& kernel : report->kernels) {
    text += kernel.name.size();
    for (const auto& [name, value] : kernel.metrics)
      require(std::isfinite(value), "a metric is a finite number");
  }
  require(text <= (std::size_t{1} << 20U) + 64 * bytes.size(), "names do not outgrow the report");
  for (const auto* list : {&report->unavailable, &report->not_numbers})
    for (const auto& name : *list)
      require(std::ranges::none_of(report->kernels,
                                   [&](const auto& one) { return one.metrics.contains(name); }),
              "a metric without a value has none in any launch");
}

}  // namespace ratchet::fuzz
