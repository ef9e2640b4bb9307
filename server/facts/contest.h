#pragma once

// Several candidates against an incumbent, measured in one call.

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/timing.h"

namespace ratchet {

/// How one candidate did, in the order they were given.
struct ContestRow {
  std::string status;  ///< confirmed, screened or failed
  std::optional<std::string> detail;
  std::optional<Timing> timing;
  std::optional<double> screened;  ///< incumbent ÷ candidate, of the screening: says who goes on
  /// On new inputs, incumbent ÷ candidate; the verdicts of all confirmed ones hold together.
  std::optional<Comparison> confirmed;

  static constexpr auto fields() {
    using C = ContestRow;
    return std::tuple{
        required("status", &C::status, "confirmed, screened or failed."),
        optional("detail", &C::detail, "Why it failed."),
        optional("timing", &C::timing, "Of the last session it took part in."),
        optional("screened_speedup", &C::screened, "Screening only: incumbent ÷ candidate."),
        optional("confirmed", &C::confirmed, "Paired with the incumbent on new inputs.")};
  }
};

struct ContestReport {
  std::vector<ContestRow> rows;
  Timing incumbent;
  /// Index of the candidate that is `faster` with the largest speed-up; empty: the incumbent stays.
  std::optional<int> champion;
  double elapsed_ms = 0;

  static constexpr auto fields() {
    using C = ContestReport;
    return std::tuple{required("rows", &C::rows, "In the order the candidates were given."),
                      required("incumbent", &C::incumbent, "Timing of the incumbent."),
                      optional("champion", &C::champion, "Index of the row that won."),
                      required("elapsed_ms", &C::elapsed_ms, "Wall time, ms.")};
  }
};

}  // namespace ratchet
