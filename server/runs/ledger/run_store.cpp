#include "server/runs/ledger/run_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "server/core/beneath.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/runs/ledger/disk.h"
#include "server/runs/records/markdown.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

Error unknown_run(const RunId& run) {
  return {ErrorCode::not_found, fmt::format("run: there is no run \"{}\"", run.text),
          "Ids come from the answer of create_run; list_runs shows all."};
}

Error broken_chain(const Reason& reason) {
  return {
      ErrorCode::drift, fmt::format("{}: {}", reason.code, reason.message),
      "The ledger was changed from outside; `ratchet audit RUN` shows where. Create a new run."};
}

}  // namespace

Result<std::unique_ptr<RunStore>> RunStore::open(const fs::path& state_dir, bool durable,
                                                 const fs::path& system_log) {
  auto ledger = Ledger::open(state_dir, durable, system_log);
  if (!ledger) return ledger.error();
  std::error_code failed;
  const auto folder = fs::canonical(state_dir, failed);
  if (!failed) fs::create_directories(folder / "locks", failed);
  if (failed)
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot use {}: {}", state_dir.string(), failed.message()), ""};
  return std::unique_ptr<RunStore>(new RunStore(folder, *std::move(ledger)));
}

Result<LoadedRun> RunStore::load(const RunId& run) {
  const auto head = ledger_->head(run);
  if (!head) return head.error();
  const StatePtr cached = cache_.find(run);
  if (*head == 0 && !cached) return unknown_run(run);
  if (cached && cached->sequence == *head) return LoadedRun{cached, std::nullopt};
  const Reason cut{
      "chain_cut",
      fmt::format("the ledger ends at row {} of run {}; it was longer before", *head, run.text),
      std::nullopt};
  if (cached && cached->sequence > *head) return LoadedRun{cached, cut};

  auto state = cached ? std::make_shared<RunState>(*cached) : std::make_shared<RunState>();
  auto broken = extend(*state, run);
  if (!broken) return broken.error();
  if (!*broken && state->sequence < *head) *broken = cut;
  if (state->sequence == 0) return *broken ? broken_chain(**broken) : unknown_run(run);
  return LoadedRun{cache_.keep(std::move(state)), *std::move(broken)};
}

Result<std::optional<Reason>> RunStore::extend(RunState& state, const RunId& run) {
  const auto rows = ledger_->rows(run, state.sequence);
  if (!rows) return rows.error();
  LedgerRow before = state.last_row;
  for (const auto& row : *rows) {
    if (auto broken = ledger_->broken(row, before.sequence == 0 ? nullptr : &before)) return broken;
    if (auto applied = apply(state, row); !applied) return applied.error();
    before = row;
  }
  return std::optional<Reason>{};
}

Result<StatePtr> RunStore::load_intact(const RunId& run) {
  auto loaded = load(run);
  if (!loaded) return loaded.error();
  if (loaded->broken) return broken_chain(*loaded->broken);
  return loaded->state;
}

fs::path RunStore::lock_path(const RunId& run) const {
  return folder_ / "locks" / (run.text + ".lock");
}

std::int64_t RunStore::written_row(const RunId& run) const {
  const auto text = read_file(lock_path(run), 64);
  std::int64_t row = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), row);
  return row;
}

/// Not synced: if the number is too small, files are only written again.
Status RunStore::note_written(const RunId& run, std::int64_t row) const {
  const Fd fd(::open(lock_path(run).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string text = fmt::format("{:<20}\n", row);
  if (!fd || ::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot write {}: {}", lock_path(run).string(), std::strerror(errno)),
                 ""};
  return {};
}

Result<RunLock> RunStore::lock(const RunId& run, Patience patience) {
  // The run id becomes a file name, so only known ids are accepted.
  const auto head = ledger_->head(run);
  if (!head) return head.error();
  if (*head == 0) return unknown_run(run);
  const auto path = lock_path(run);
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const int how = patience == Patience::wait ? LOCK_EX : LOCK_EX | LOCK_NB;
  int code = fd ? ::flock(fd.get(), how) : -1;
  while (code != 0 && fd && errno == EINTR) code = ::flock(fd.get(), how);
  if (code != 0 && errno == EWOULDBLOCK)
    return Error{ErrorCode::conflict, fmt::format("another call is working on run {}", run.text),
                 ""};
  if (code != 0)
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot lock {}: {}", path.string(), std::strerror(errno)), ""};
  RunLock lock(std::move(fd));
  tidy(run);
  const auto written = written_row(run);
  const auto now = ledger_->head(run);
  if (!now) return now.error();
  if (written >= *now) return lock;
  const auto state = load_intact(run);
  // The caller finds a broken chain, or another run in the folder, itself and reports it.
  if (!state || disk::taken(**state)) return lock;
  if (auto done = write_since(**state, written); !done) return done.error();
  if (auto noted = note_written(run, (*state)->sequence); !noted) return noted.error();
  return lock;
}

Result<HeldRun> RunStore::hold(const RunId& run) {
  auto locked = lock(run);
  if (!locked) return locked.error();
  auto state = load_intact(run);
  if (!state) return state.error();
  return HeldRun{*std::move(locked), *std::move(state)};
}

Status RunStore::finish(const RunId& run) {
  const auto head = ledger_->head(run);
  if (!head) return head.error();
  if (*head > 0) tidy(run);
  if (written_row(run) >= *head) return {};
  const auto locked = lock(run, Patience::no_wait);
  if (!locked && locked.error().code != ErrorCode::conflict) return locked.error();
  return {};
}

void RunStore::tidy(const RunId& run) {
  {
    const std::scoped_lock lock(tidying_);
    if (!tidied_.insert(run.text).second) return;
  }
  const auto loaded = load(run);
  if (!loaded || disk::taken(*loaded->state)) return;
  const auto folder = Folder::open(loaded->state->contract.output_dir);
  if (folder) folder->remove_half_written();
}

Status RunStore::write_since(const RunState& state, std::int64_t row) {
  const auto folder = Folder::make(state.contract.output_dir);
  if (!folder) return folder.error();
  for (const auto& [path, at] : state.file_rows) {
    if (at <= row) continue;
    const auto found = state.artifacts.find(path);
    if (found == state.artifacts.end()) {
      if (auto removed = folder->remove(path); !removed) return removed;
      continue;
    }
    const auto text = ledger_->blob(found->second);
    if (!text) return text.error();
    if (auto written = folder->write(path, *text); !written) return written;
  }
  return write_state_file(state);
}

Result<StatePtr> RunStore::commit(const RunState& before, const Change& change) {
  const RunId run = before.run;
  Entry entry{
      .event = change.event, .fact = change.fact, .artifacts = {}, .removed = change.removed};
  const LedgerRow row{.sequence = before.sequence + 1,
                      .time = change.time,
                      .run = run,
                      .version = change.version,
                      .kind = change.kind,
                      .payload = markdown::json_text(encode(entry)),
                      .previous = before.last_row.seal};
  auto after = std::make_shared<RunState>(before);
  if (auto applied = apply(*after, row); !applied) return applied.error();
  const auto files =
      change.render ? change.render(*after, change.time) : std::vector<render::Rendered>{};

  NewRow fresh{run, change.version, change.kind, change.time, "", change.blobs};
  for (const auto& file : files) {
    const std::string digest = sha256_hex(file.text);
    entry.artifacts.push_back({file.path, digest});
    fresh.blobs.emplace(digest, file.text);
  }
  fresh.payload = markdown::json_text(encode(entry));
  const auto appended = ledger_->append(fresh, before.sequence);
  if (!appended) return appended.error();
  add_written(*after, *appended, entry.artifacts);

  const StatePtr state = cache_.keep(std::move(after));
  const auto folder = Folder::make(state->contract.output_dir);
  if (!folder) return folder.error();
  RunChange changed{run, {}, false};
  for (const auto& path : change.removed) {
    if (state->artifacts.contains(path)) continue;
    if (auto removed = folder->remove(path); !removed) return removed.error();
    changed.paths.push_back(path);
    changed.list_changed = true;
  }
  for (const auto& file : files) {
    if (auto written = folder->write(file.path, file.text); !written) return written.error();
    changed.paths.push_back(file.path);
    changed.list_changed = changed.list_changed || !before.artifacts.contains(file.path);
  }
  if (before.sequence == 0 || before.open().id != state->open().id) {
    if (auto written = write_state_file(*state); !written) return written.error();
    changed.paths.emplace_back(disk::kStateFile);
  }
  if (auto noted = note_written(run, state->sequence); !noted) return noted.error();
  if (observer_ && !changed.paths.empty()) observer_(changed);
  return state;
}

Status RunStore::restore(const RunState& state, const std::vector<std::string>& paths) {
  const auto folder = Folder::make(state.contract.output_dir);
  if (!folder) return folder.error();
  for (const auto& path : paths) {
    const auto text = ledger_->blob(state.artifacts.at(path));
    if (!text) return text.error();
    if (auto written = folder->write(path, *text); !written) return written;
  }
  return {};
}

Status RunStore::write_state_file(const RunState& state) {
  const auto folder = Folder::make(state.contract.output_dir);
  if (!folder) return folder.error();
  return folder->write(disk::kStateFile, state.open().id.text() + "\n");
}

Result<Candidate> RunStore::candidate(const BuildFact& build) {
  auto text = ledger_->blob(build.source_blob);
  if (!text) return text.error();
  Candidate candidate = build.candidate;
  candidate.source.text = *std::move(text);
  return candidate;
}

Result<Contract> RunStore::contract(const RunState& state) {
  auto kernel = ledger_->blob(state.contract.kernel_blob);
  if (!kernel) return kernel.error();
  auto reference = ledger_->blob(state.contract.reference_blob);
  if (!reference) return reference.error();
  Contract contract = state.contract.contract;
  contract.kernel.text = *std::move(kernel);
  contract.reference.text = *std::move(reference);
  return contract;
}

}  // namespace ratchet
