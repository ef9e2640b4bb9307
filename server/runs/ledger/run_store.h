#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/core/clock.h"
#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/runs/ledger/ledger.h"
#include "server/runs/ledger/run_state.h"
#include "server/runs/ledger/state_cache.h"
#include "server/runs/records/rendered.h"
#include "server/runs/records/run_change.h"

namespace ratchet {

/// A run folded up to the first break of its chain, and that break.
struct LoadedRun {
  StatePtr state;
  std::optional<Reason> broken;
};

/// A fact to record. `render` gets the state with the fact folded in.
struct Change {
  VersionId version;
  std::string kind;  ///< see namespace `kind`
  Json fact;
  std::optional<Event> event = {};                ///< empty: the stage stays
  std::map<std::string, std::string> blobs = {};  ///< large texts by SHA-256
  std::vector<std::string> removed = {};          ///< artifacts that the fact makes void
  std::function<std::vector<render::Rendered>(const RunState& after, const std::string& time)>
      render = {};
  std::string time = utc_now();
};

/// Holds a run's lock against other threads and processes while it exists.
class RunLock {
 public:
  explicit RunLock(Fd fd) : fd_(std::move(fd)) {}

 private:
  Fd fd_;
};

/// A locked run and its state, for a call that records.
struct HeldRun {
  RunLock lock;
  StatePtr state;
};

/// Whether to wait for a lock held by another call.
enum class Patience { wait, no_wait };

/// The ledger and the files rendered from it. Loads runs as folded states (cached) and records
/// changes: the ledger first, then the files.
///
/// If the process is killed between the two, files are old or missing. The lock file holds the row
/// up to which files were written, so the next call that takes the lock writes the files of later
/// rows; other files are left as they are. The first call on a run also removes what a killed
/// process left half written. Thread rule: safe from several threads and processes. A
/// caller of `commit` holds the run's lock.
class RunStore {
 public:
  static Result<std::unique_ptr<RunStore>> open(const std::filesystem::path& state_dir,
                                                bool durable,
                                                const std::filesystem::path& system_log = {});

  /// Errors: `not_found`; `drift` if even the first row is broken.
  Result<LoadedRun> load(const RunId& run);
  /// As `load`, but a broken chain is an error.
  Result<StatePtr> load_intact(const RunId& run);

  /// Takes the run's lock, then writes the files that a killed call left unwritten.
  /// Errors: `not_found` for an unknown run; `conflict` if the lock is held and `patience` is
  /// `no_wait`.
  Result<RunLock> lock(const RunId& run, Patience patience = Patience::wait);
  /// Writes the files that a killed call left unwritten, unless another call holds the lock.
  Status finish(const RunId& run);

  /// `lock`, then `load_intact`.
  Result<HeldRun> hold(const RunId& run);

  /// Appends the change after `before`'s last row, then writes its files and the state file, then
  /// tells the observer.
  Result<StatePtr> commit(const RunState& before, const Change& change);
  /// See `Runs::on_change`.
  void on_change(std::function<void(const RunChange&)> observer) {
    observer_ = std::move(observer);
  }

  /// Writes artifacts again from the ledger.
  Status restore(const RunState& state, const std::vector<std::string>& paths);
  static Status write_state_file(const RunState& state);

  /// The candidate of a build with its source text.
  Result<Candidate> candidate(const BuildFact& build);
  /// The contract with its source texts.
  Result<Contract> contract(const RunState& state);

  [[nodiscard]] Ledger& ledger() { return *ledger_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  [[nodiscard]] std::filesystem::path lock_path(const RunId& run) const;
  /// The row up to which the files of a run are written.
  [[nodiscard]] std::int64_t written_row(const RunId& run) const;
  Status note_written(const RunId& run, std::int64_t row) const;
  /// Folds in the rows after the state's last one, up to the first break of the chain, which is
  /// returned.
  Result<std::optional<Reason>> extend(RunState& state, const RunId& run);
  Status write_since(const RunState& state, std::int64_t row);
  /// Once for each run.
  void tidy(const RunId& run);

  RunStore(std::filesystem::path folder, std::unique_ptr<Ledger> ledger)
      : folder_(std::move(folder)), ledger_(std::move(ledger)) {}

  const std::filesystem::path folder_;
  const std::unique_ptr<Ledger> ledger_;
  StateCache cache_;
  std::mutex tidying_;
  std::set<std::string> tidied_;  ///< ids of runs
  std::function<void(const RunChange&)> observer_;
};

}  // namespace ratchet
