#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "server/core/lab_meter.h"
#include "server/core/result.h"
#include "server/core/units.h"
#include "server/facts/lab_state.h"

namespace ratchet {

class RunStore;

/// What runs use of labs, and how much they may: recorded in the ledger, so that a new server knows
/// it. Thread-safe. Errors: `not_found` for unknown runs.
class LabAccounts {
 public:
  /// `store` outlives it.
  explicit LabAccounts(RunStore& store) : store_(store) {}

  /// The meter of all calls on a run, with what is recorded of it. It lives as long as this object.
  Result<LabMeter*> meter(const RunId& run);

  /// Records what a meter counted for the run, if it did. Never changes the stage.
  Status record(const RunId& run, LabMeter& meter);

  /// Without a name of a lab: on this machine.
  Result<MeasuredOn> measured_on(const RunId& run);
  /// Another lab takes the run over. Errors: `conflict` if it is no longer on `from`.
  Status move(const RunId& run, const std::string& from, const std::string& to);

  /// The limits given replace those of the run.
  Status change_budget(const RunId& run, const LabBudget& limits);

 private:
  RunStore& store_;
  std::mutex guard_;
  std::map<std::string, std::unique_ptr<LabMeter>> meters_;  ///< by run
};

}  // namespace ratchet
