#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/core/result.h"
#include "server/facts/findings.h"
#include "server/runs/ledger/chain.h"
#include "server/runs/ledger/system_log.h"
#include "server/sqlite/sqlite.h"

namespace ratchet {

/// Schema version of the payloads that this program writes.
inline constexpr int kPayloadSchema = 1;

/// One row of the ledger.
struct LedgerRow {
  std::int64_t sequence = 0;  ///< 1, 2, … within its run
  std::string time;           ///< UTC, ISO 8601
  RunId run;
  VersionId version;
  std::string kind;
  int schema = kPayloadSchema;
  std::string payload;   ///< JSON text
  std::string previous;  ///< seal of the row before; empty for the first
  std::string seal;      ///< HMAC-SHA-256 over everything above
};

/// A row to append. `blobs` are large texts by SHA-256; each is stored once.
struct NewRow {
  RunId run;
  VersionId version;
  std::string kind;
  std::string time;  ///< `utc_now()`
  std::string payload;
  std::map<std::string, std::string> blobs;
};

/// One page of runs, newest first; `before` of the next page is the last `position`.
struct RunPosition {
  RunId run;
  std::int64_t position = 0;
};

/// The append-only, hash-chained record of all runs, in one SQLite file.
///
/// Each run has its own chain: a row holds the seal of the row before it, and a seal is an
/// HMAC-SHA-256 with the key in `ledger.key` (mode 0600) beside the database. The last seal of a
/// run is sealed again as its head, so that a truncated chain is detected too. The rows of all runs
/// form one more chain (see chain.h). A row is written whole or not at all. Thread rule: safe from
/// several threads, and from several processes on one folder. Errors: `conflict` if the run has
/// grown beyond row `expected`; `drift` if a chain does not end where it was sealed; `unavailable`
/// if the database cannot be read or written.
class Ledger {
 public:
  /// `durable` false skips fsync on commit: for tests only. Each new head of the chain over all
  /// runs is also written to `system_log`, the socket of the machine's log.
  static Result<std::unique_ptr<Ledger>> open(const std::filesystem::path& folder,
                                              bool durable = true,
                                              const std::filesystem::path& system_log = {});

  /// Appends a row after row `expected` (0 for a new run) and returns it with its seal.
  Result<LedgerRow> append(const NewRow& row, std::int64_t expected);

  /// Sequence number of the last row of a run; 0 if there is no such run.
  Result<std::int64_t> head(const RunId& run);

  /// Rows after `after`, in order.
  Result<std::vector<LedgerRow>> rows(const RunId& run, std::int64_t after = 0);

  /// A large text by its digest.
  /// Errors: `not_found`; `drift` if the stored bytes do not have this digest.
  Result<std::string> blob(const std::string& digest);

  /// Secrets are not part of the chain, so that rows can be shown; rows hold their digests.
  Status keep_secret(const RunId& run, const std::string& secret);
  Result<std::string> secret(const RunId& run);

  Result<std::vector<RunPosition>> runs(int limit, std::optional<std::int64_t> before);

  /// Runs that have recorded something at or after this time.
  Result<std::vector<RunId>> runs_since(const std::string& time);

  /// What is wrong with this row, given the one before it (null for the first).
  [[nodiscard]] std::optional<Reason> broken(const LedgerRow& row, const LedgerRow* before) const;

  /// The first break of the chain of a run, head included; empty if it is intact.
  Result<std::optional<Reason>> first_break(const RunId& run);

  /// The same, but rows that this object has verified are not read again unless another connection
  /// has written to the database since.
  Result<std::optional<Reason>> first_new_break(const RunId& run);

  /// The head of the chain over all runs, for keeping outside.
  Result<std::string> kept_head();
  /// Verifies the chain over all runs, not the content of their rows.
  Result<ChainReport> inspect_chain();
  /// What has become of a head that was kept earlier.
  Result<HeadStanding> compare(const std::string& kept);

 private:
  Ledger(sqlite::Database database, std::string key, SystemLog system_log)
      : database_(std::move(database)), key_(std::move(key)), system_log_(std::move(system_log)) {}

  /// The row up to which a chain was verified.
  struct Verified {
    std::int64_t sequence = 0;
    std::string seal;
  };

  /// The sealed end of a run's chain; 0 if there is no such run.
  struct RunHead {
    std::int64_t sequence = 0;
    std::string seal;
  };

  /// `now` becomes the head of the chain over all runs.
  Result<LedgerRow> write(const NewRow& row, const RunHead& head, const ChainHead& last,
                          ChainHead& now);
  /// Requires an open snapshot. Advances `from` to the last row if the chain is intact.
  Result<std::optional<Reason>> break_after(const RunId& run, Verified& from);
  Result<RunHead> head_locked(const RunId& run);
  Result<std::vector<LedgerRow>> rows_locked(const RunId& run, std::int64_t after);
  [[nodiscard]] std::string seal_of(const LedgerRow& row) const;
  [[nodiscard]] std::string head_seal(const RunId& run, std::int64_t sequence,
                                      const std::string& seal) const;

  std::mutex mutex_;
  sqlite::Database database_;
  const std::string key_;
  LedgerChain chain_{database_, key_};
  SystemLog system_log_;
  std::map<std::string, Verified> verified_;  ///< by run id; cleared when others write
  std::int64_t others_wrote_ = 0;             ///< SQLite's count of what other connections wrote
};

}  // namespace ratchet
