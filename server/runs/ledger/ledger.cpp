#include "server/runs/ledger/ledger.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

#include "server/core/clock.h"
#include "server/core/hash.h"
#include "server/runs/ledger/ledger_key.h"
#include "server/sqlite/compression.h"

namespace ratchet {
namespace {

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS rows(
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL, sequence INTEGER NOT NULL, time TEXT NOT NULL, version INTEGER NOT NULL,
  kind TEXT NOT NULL, schema INTEGER NOT NULL, payload TEXT NOT NULL,
  previous TEXT NOT NULL, seal TEXT NOT NULL,
  UNIQUE(run, sequence));
CREATE TABLE IF NOT EXISTS heads(run TEXT PRIMARY KEY, sequence INTEGER NOT NULL, seal TEXT NOT NULL);
-- bytes: zstd where that is shorter
CREATE TABLE IF NOT EXISTS blobs(digest TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS secrets(run TEXT PRIMARY KEY, secret BLOB NOT NULL);
)";

Status prepare_database(sqlite::Database& database, const std::string& key, bool durable) {
  // SQLite does not wait for other processes when it changes the journal mode, so try repeatedly.
  constexpr int kTries = 50;
  Status status;
  for (int i = 0; i < kTries; ++i) {
    status = database.execute("PRAGMA journal_mode=WAL");
    if (status) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (!status) return status;
  if (auto set = database.execute(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF");
      !set)
    return set;
  auto transaction = sqlite::Transaction::begin(database);
  if (!transaction) return transaction.error();
  if (auto made = database.execute(kTables); !made) return made;
  if (auto begun = LedgerChain(database, key).begin(utc_now()); !begun) return begun;
  return transaction->commit();
}

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(const std::filesystem::path& folder, bool durable,
                                             const std::filesystem::path& system_log) {
  std::error_code failed;
  if (std::filesystem::create_directories(folder, failed))
    ::chmod(folder.c_str(), S_IRWXU);  // holds the key and the secrets of all runs
  if (failed)
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot create {}: {}", folder.string(), failed.message()),
                 "Set --state-dir to a folder that this user can write to."};
  auto key = load_or_make_key(folder / "ledger.key");
  if (!key) return key.error();
  auto database = sqlite::Database::open(folder / "ledger.sqlite", sqlite::OpenMode::shared,
                                         {.name = "ledger", .hint = ""});
  if (!database) return database.error();
  ::chmod((folder / "ledger.sqlite").c_str(), S_IRUSR | S_IWUSR);
  if (auto ready = prepare_database(*database, *key, durable); !ready) return ready.error();
  return std::unique_ptr<Ledger>(
      new Ledger(*std::move(database), *std::move(key), SystemLog(system_log)));
}

std::string Ledger::seal_of(const LedgerRow& row) const {
  return seal_with(
      key_, "",
      {row.run.text, std::to_string(row.sequence), row.time, std::to_string(row.version.number),
       row.kind, std::to_string(row.schema), row.payload, row.previous});
}

std::string Ledger::head_seal(const RunId& run, std::int64_t sequence,
                              const std::string& seal) const {
  return seal_with(key_, "head;", {run.text, std::to_string(sequence), seal});
}

Result<LedgerRow> Ledger::append(const NewRow& row, std::int64_t expected) {
  const std::scoped_lock lock(mutex_);
  auto transaction = sqlite::Transaction::begin(database_);
  if (!transaction) return transaction.error();
  const auto head = head_locked(row.run);
  if (!head) return head.error();
  if (head->sequence != expected)
    return Error{ErrorCode::conflict,
                 fmt::format("another call recorded something in run {} first: its ledger grew "
                             "from row {} to row {}",
                             row.run.text, expected, head->sequence),
                 "Call run_status, then the tool it names."};
  // Also before a row is added: a new head would hide that the old one did not fit.
  const auto last = chain_.last();
  if (!last) return last.error();
  ChainHead now;
  auto written = write(row, *head, *last, now);
  if (!written) return written;
  if (auto done = transaction->commit(); !done) return done.error();
  system_log_.write(fmt::format("ledger head {}", chain_.kept_text(now)));
  return written;
}

Result<LedgerRow> Ledger::write(const NewRow& row, const RunHead& head, const ChainHead& last,
                                ChainHead& now) {
  const std::int64_t expected = head.sequence;
  LedgerRow whole{expected + 1,   row.time,    row.run,       row.version, row.kind,
                  kPayloadSchema, row.payload, std::string(), ""};
  if (expected > 0) {
    auto before = rows_locked(row.run, expected - 1);
    if (!before) return before.error();
    if (before->empty() ||
        !equal_in_constant_time(head.seal, head_seal(row.run, expected, before->front().seal)))
      return Error{ErrorCode::drift,
                   fmt::format("ledger: row {} of run {} is missing, or is not the row that was "
                               "written last",
                               expected, row.run.text),
                   "This run cannot go on. `ratchet audit` with its id shows what was changed."};
    whole.previous = before->front().seal;
  }
  whole.seal = seal_of(whole);
  now = chain_.next(last, whole.seal);

  for (const auto& [digest, bytes] : row.blobs) {
    auto blob = database_.prepare("INSERT OR IGNORE INTO blobs VALUES(?,?)");
    if (!blob) return blob.error();
    const auto packed = compress(bytes);
    const bool shorter = !packed.empty() && packed.size() < bytes.size();
    const std::string_view kept = shorter ? packed : bytes;
    if (auto done = blob->bind(1, digest).bind_blob(2, kept).step(); !done) return done.error();
  }
  auto insert = database_.prepare(
      "INSERT INTO rows(run,sequence,time,version,kind,schema,payload,previous,seal,position,link) "
      "VALUES(?,?,?,?,?,?,?,?,?,?,?)");
  if (!insert) return insert.error();
  insert->bind(1, whole.run.text).bind(2, whole.sequence).bind(3, whole.time);
  insert->bind(4, std::int64_t{whole.version.number}).bind(5, whole.kind);
  insert->bind(6, std::int64_t{whole.schema}).bind(7, whole.payload);
  insert->bind(8, whole.previous).bind(9, whole.seal).bind(10, now.record).bind(11, now.link);
  if (auto done = insert->step(); !done) return done.error();

  auto heads = database_.prepare("INSERT OR REPLACE INTO heads VALUES(?,?,?),('',?,?)");
  if (!heads) return heads.error();
  heads->bind(1, whole.run.text).bind(2, whole.sequence);
  heads->bind(3, head_seal(whole.run, whole.sequence, whole.seal));
  heads->bind(4, now.record).bind(5, chain_.seal(now));
  if (auto done = heads->step(); !done) return done.error();
  return whole;
}

Result<std::int64_t> Ledger::head(const RunId& run) {
  const std::scoped_lock lock(mutex_);
  const auto head = head_locked(run);
  if (!head) return head.error();
  return head->sequence;
}

Result<Ledger::RunHead> Ledger::head_locked(const RunId& run) {
  auto query = database_.prepare("SELECT sequence,seal FROM heads WHERE run=?");
  if (!query) return query.error();
  const auto found = query->bind(1, run.text).step();
  if (!found) return found.error();
  return *found ? RunHead{query->integer(0), std::string(query->text(1))} : RunHead{};
}

Result<std::vector<LedgerRow>> Ledger::rows(const RunId& run, std::int64_t after) {
  const std::scoped_lock lock(mutex_);
  return rows_locked(run, after);
}

Result<std::vector<LedgerRow>> Ledger::rows_locked(const RunId& run, std::int64_t after) {
  auto query = database_.prepare(
      "SELECT sequence,time,version,kind,schema,payload,previous,seal FROM rows "
      "WHERE run=? AND sequence>? ORDER BY sequence");
  if (!query) return query.error();
  query->bind(1, run.text).bind(2, after);
  std::vector<LedgerRow> rows;
  while (true) {
    const auto more = query->step();
    if (!more) return more.error();
    if (!*more) return rows;
    rows.push_back({query->integer(0), std::string(query->text(1)), run,
                    VersionId{static_cast<int>(query->integer(2))}, std::string(query->text(3)),
                    static_cast<int>(query->integer(4)), std::string(query->text(5)),
                    std::string(query->text(6)), std::string(query->text(7))});
  }
}

Result<std::string> Ledger::blob(const std::string& digest) {
  const std::scoped_lock lock(mutex_);
  auto query = database_.prepare("SELECT bytes FROM blobs WHERE digest=?");
  if (!query) return query.error();
  const auto found = query->bind(1, digest).step();
  if (!found) return found.error();
  if (!*found)
    return Error{ErrorCode::not_found,
                 fmt::format("ledger: the text with digest {} is missing", digest), ""};
  // A text that looks compressed may be a zstd file that was stored as it is: the digest decides.
  const auto bytes = query->blob(0);
  auto unpacked = decompress(bytes);
  if (unpacked && sha256_hex(*unpacked) == digest) return unpacked;
  if (sha256_hex(bytes) == digest) return std::string(bytes);
  return Error{ErrorCode::drift,
               fmt::format("ledger: the text stored under digest {} was changed", digest),
               "Run `ratchet audit` on the run."};
}

Status Ledger::keep_secret(const RunId& run, const std::string& secret) {
  const std::scoped_lock lock(mutex_);
  auto insert = database_.prepare("INSERT INTO secrets VALUES(?,?)");
  if (!insert) return insert.error();
  if (auto done = insert->bind(1, run.text).bind_blob(2, secret).step(); !done) return done.error();
  return {};
}

Result<std::string> Ledger::secret(const RunId& run) {
  const std::scoped_lock lock(mutex_);
  auto query = database_.prepare("SELECT secret FROM secrets WHERE run=?");
  if (!query) return query.error();
  const auto found = query->bind(1, run.text).step();
  if (!found) return found.error();
  if (!*found)
    return Error{ErrorCode::drift, fmt::format("ledger: the secret of run {} is missing", run.text),
                 "Without it no inputs can be drawn: call create_run to start another run."};
  return std::string(query->blob(0));
}

Result<std::vector<RunPosition>> Ledger::runs(int limit, std::optional<std::int64_t> before) {
  const std::scoped_lock lock(mutex_);
  auto query = database_.prepare(
      "SELECT run,position FROM rows WHERE sequence=1 AND position<? ORDER BY position DESC LIMIT "
      "?");
  if (!query) return query.error();
  query->bind(1, before.value_or(std::numeric_limits<std::int64_t>::max()));
  query->bind(2, std::int64_t{limit});
  std::vector<RunPosition> runs;
  while (true) {
    const auto more = query->step();
    if (!more) return more.error();
    if (!*more) return runs;
    runs.push_back({RunId{std::string(query->text(0))}, query->integer(1)});
  }
}

Result<std::vector<RunId>> Ledger::runs_since(const std::string& time) {
  const std::scoped_lock lock(mutex_);
  auto query = database_.prepare("SELECT run FROM rows GROUP BY run HAVING MAX(time)>=?");
  if (!query) return query.error();
  query->bind(1, time);
  std::vector<RunId> runs;
  while (true) {
    const auto more = query->step();
    if (!more) return more.error();
    if (!*more) return runs;
    runs.push_back(RunId{std::string(query->text(0))});
  }
}

std::optional<Reason> Ledger::broken(const LedgerRow& row, const LedgerRow* before) const {
  const std::int64_t due = before == nullptr ? 1 : before->sequence + 1;
  const auto reason = [&](const std::string& what) {
    return Reason{"chain_broken",
                  fmt::format("ledger row {} of run {}: {}", due, row.run.text, what),
                  std::nullopt};
  };
  if (row.sequence != due) return reason("it is missing");
  if (row.previous != (before == nullptr ? "" : before->seal))
    return reason("it does not follow the row before it");
  if (!equal_in_constant_time(row.seal, seal_of(row)))
    return reason(fmt::format("its content ({}) does not match its seal", row.kind));
  return std::nullopt;
}

Result<std::optional<Reason>> Ledger::first_break(const RunId& run) {
  const std::scoped_lock lock(mutex_);
  // A snapshot, because another process may append between reading the rows and the head.
  auto snapshot = sqlite::Transaction::begin(database_, true);
  if (!snapshot) return snapshot.error();
  Verified nothing;
  return break_after(run, nothing);
}

Result<std::optional<Reason>> Ledger::first_new_break(const RunId& run) {
  const std::scoped_lock lock(mutex_);
  auto snapshot = sqlite::Transaction::begin(database_, true);
  if (!snapshot) return snapshot.error();
  const auto wrote = database_.integer("PRAGMA data_version");
  if (!wrote) return wrote.error();
  if (*wrote != others_wrote_) verified_.clear();
  others_wrote_ = *wrote;
  Verified from = verified_[run.text];
  auto found = break_after(run, from);
  if (found && !*found)
    verified_[run.text] = std::move(from);
  else
    verified_.erase(run.text);
  return found;
}

Result<std::optional<Reason>> Ledger::break_after(const RunId& run, Verified& from) {
  const auto rows = rows_locked(run, from.sequence);
  if (!rows) return rows.error();
  LedgerRow known;
  known.sequence = from.sequence;
  known.seal = from.seal;
  const LedgerRow* before = from.sequence == 0 ? nullptr : &known;
  for (const auto& row : *rows) {
    if (auto reason = broken(row, before)) return reason;
    before = &row;
  }
  if (before != nullptr) from = {before->sequence, before->seal};
  const auto head = head_locked(run);
  if (!head) return head.error();
  if (head->sequence != from.sequence ||
      !equal_in_constant_time(head->seal, head_seal(run, from.sequence, from.seal)))
    return std::optional<Reason>{
        Reason{"chain_cut",
               fmt::format("the rows of run {} end at {}, which is not the row that was written "
                           "last",
                           run.text, from.sequence),
               std::nullopt}};
  return std::optional<Reason>{};
}

Result<std::string> Ledger::kept_head() {
  const std::scoped_lock lock(mutex_);
  auto snapshot = sqlite::Transaction::begin(database_, true);
  if (!snapshot) return snapshot.error();
  const auto head = chain_.sealed_head();
  if (!head) return head.error();
  return chain_.kept_text(*head);
}

Result<ChainReport> Ledger::inspect_chain() {
  const std::scoped_lock lock(mutex_);
  auto snapshot = sqlite::Transaction::begin(database_, true);
  if (!snapshot) return snapshot.error();
  return chain_.inspect();
}

Result<HeadStanding> Ledger::compare(const std::string& kept) {
  const std::scoped_lock lock(mutex_);
  auto snapshot = sqlite::Transaction::begin(database_, true);
  if (!snapshot) return snapshot.error();
  return chain_.compare(kept);
}

}  // namespace ratchet
