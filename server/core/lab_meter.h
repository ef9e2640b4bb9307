#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "server/core/field.h"
#include "server/core/result.h"

namespace ratchet {

/// What a lab takes for its time.
struct LabPrice {
  static constexpr double kHour = 3600;  // s

  double per_second = 0;
  std::string currency;  ///< empty: not said
};

/// Time on labs, and what it cost.
struct LabUse {
  double seconds = 0;  ///< in which a call occupied a lab, all labs together
  double cost = 0;
  std::optional<std::string> currency;

  static constexpr void fields(auto&& visit) {
    using L = LabUse;
    visit(required<&L::seconds>("In which its calls held a lab, all labs together."),
          required<&L::cost>("Of these, by the prices of the labs."), optional<&L::currency>());
  }
};

/// The most that a run may take of labs; empty: no limit.
struct LabBudget {
  std::optional<double> max_lab_seconds;
  std::optional<double> max_cost;

  static constexpr void fields(auto&& visit) {
    using L = LabBudget;
    visit(optional<&L::max_lab_seconds>("", {.min = 0}), optional<&L::max_cost>("", {.min = 0}));
  }
};

/// Counts the time that the calls of one run hold labs, against its budget. Several calls on one
/// lab at a time count once. Thread-safe.
class LabMeter {
 public:
  /// `way_on` is the hint of the error at the limit.
  explicit LabMeter(std::string way_on) : way_on_(std::move(way_on)) {}
  LabMeter(const LabMeter&) = delete;
  LabMeter& operator=(const LabMeter&) = delete;

  /// The budget, and what is recorded of the run; never less than what `settle` was told.
  void set(const LabUse& recorded, const LabBudget& budget);

  /// A call holds a lab while this exists. The meter outlives it.
  class Hold {
   public:
    Hold(LabMeter* meter, std::string lab, const LabPrice& price);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    LabMeter* meter_;
    std::string lab_;
  };

  /// Error: `not_permitted`, what was used and the limit that is reached.
  [[nodiscard]] Status within_budget() const;

  /// What was counted so far and is not recorded.
  [[nodiscard]] LabUse counted() const;
  /// Of that what belongs to calls that are over.
  [[nodiscard]] LabUse unrecorded() const;
  /// That much of it was recorded.
  void settle(const LabUse& recorded);

 private:
  using Clock = std::chrono::steady_clock;
  struct Busy {
    int calls = 0;
    Clock::time_point since;
    LabPrice price;
  };

  [[nodiscard]] LabUse sum() const;  ///< `counted`, while `mutex_` is held

  const std::string way_on_;
  mutable std::mutex mutex_;
  LabBudget budget_;
  LabUse recorded_;
  LabUse ended_;  ///< counted, of calls that are over, and not recorded
  std::map<std::string, Busy> busy_;
};

}  // namespace ratchet
