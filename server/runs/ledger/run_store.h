#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/core/clock.h"
#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/runs/ledger/file_digests.h"
#include "server/runs/ledger/ledger.h"
#include "server/runs/ledger/run_state.h"
#include "server/runs/ledger/state_cache.h"
#include "server/runs/records/rendered.h"

namespace ratchet {

/// A run as far as its chain holds, and the break where it does not.
struct LoadedRun {
  StatePtr state;
  std::optional<Reason> broken;
};

/// One fact about to be recorded. `render` sees the run as it will be with the fact in it.
struct Change {
  VersionId version;
  std::string kind;
  std::optional<Event> event;
  Json fact;
  std::map<std::string, std::string> blobs;
  std::vector<std::string> removed;
  std::function<std::vector<render::Rendered>(const RunState& after, const std::string& time)>
      render;
  std::string time = utc_now();
};

/// Holds the run's lock, among threads and processes, for the life of the object.
class RunLock {
 public:
  explicit RunLock(Fd fd) : fd_(std::move(fd)) {}

 private:
  Fd fd_;
};

/// Whether to wait for a lock that another call holds.
enum class Patience { wait, no_wait };

/// Ledger plus the files rendered from it: loads runs as folded states (cached by last sequence)
/// and records changes, ledger first, then files.
///
/// Killed between the two, the ledger is right and files are old or missing. The lock file says up
/// to which row files are written, so the next call that takes the lock writes those of later rows;
/// what was changed by others is not touched.
/// Thread rule: safe from several threads and processes. Whoever records holds `lock(run)`.
class RunStore {
 public:
  static Result<std::unique_ptr<RunStore>> open(const std::filesystem::path& state_dir,
                                                bool durable);

  /// Errors: `not_found`; `drift` when not even the first row holds.
  Result<LoadedRun> load(const RunId& run);
  /// As `load`, but a broken chain is an error: nothing may be built upon it.
  Result<StatePtr> load_intact(const RunId& run);

  /// Finishes first what a call that was killed left unwritten.
  /// Errors: `not_found` for an unknown run; `conflict` when another holds it and nobody waits.
  Result<RunLock> lock(const RunId& run, Patience patience = Patience::wait);
  /// Finishes what a killed call left unwritten, unless somebody works on the run just now.
  Status finish(const RunId& run);

  /// Records the change after `before`'s last row, then writes its files and the state file.
  Result<StatePtr> commit(const RunState& before, const Change& change);

  /// Writes artifacts again from the ledger.
  Status restore(const RunState& state, const std::vector<std::string>& paths);
  static Status write_state_file(const RunState& state);

  /// The candidate of a build with its source text.
  Result<Candidate> candidate(const BuildFact& build);
  /// The contract with its source texts.
  Result<Contract> contract(const RunState& state);

  [[nodiscard]] Ledger& ledger() { return *ledger_; }
  [[nodiscard]] FileDigests& digests() { return digests_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  [[nodiscard]] std::filesystem::path lock_path(const RunId& run) const;
  /// Up to which row the files of a run are written.
  [[nodiscard]] std::int64_t written_row(const RunId& run) const;
  Status note_written(const RunId& run, std::int64_t row) const;
  /// Folds in the rows up to `last`; the break where the chain does not hold.
  Result<std::optional<Reason>> extend(RunState& state, const RunId& run, std::int64_t last);
  /// What `state` says, as a value of one's own.
  std::unique_ptr<RunState> own(const RunState& state);
  Status write_since(const RunState& state, std::int64_t row);

  RunStore(std::filesystem::path folder, std::unique_ptr<Ledger> ledger)
      : folder_(std::move(folder)), ledger_(std::move(ledger)) {}

  const std::filesystem::path folder_;
  const std::unique_ptr<Ledger> ledger_;
  StateCache cache_;
  FileDigests digests_;
};

}  // namespace ratchet
