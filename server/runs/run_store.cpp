#include "server/runs/run_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/runs/disk.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

Error unknown_run(const RunId& run) {
  return {ErrorCode::not_found, fmt::format("there is no run \"{}\"", run.text),
          "list_runs shows the runs of this server; create_run makes one."};
}

Error broken_chain(const Reason& reason) {
  return {
      ErrorCode::drift, fmt::format("{}: {}", reason.code, reason.message),
      "The ledger was changed from outside; `ratchet audit RUN` shows where. Create a new run."};
}

}  // namespace

Result<std::unique_ptr<RunStore>> RunStore::open(const fs::path& state_dir, bool durable) {
  auto ledger = Ledger::open(state_dir, durable);
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

  const auto rows = ledger_->rows(run, cached ? cached->sequence : 0);
  if (!rows) return rows.error();
  RunState state = cached ? *cached : RunState{};
  LedgerRow before = state.last_row;
  std::optional<Reason> broken;
  for (const auto& row : *rows) {
    broken = ledger_->broken(row, before.sequence == 0 ? nullptr : &before);
    if (broken) break;
    if (auto applied = apply(state, row); !applied) return applied.error();
    before = row;
  }
  if (!broken && (state.sequence < *head || rows->empty()))
    broken = Reason{
        "chain_cut",
        fmt::format("the ledger ends at row {} of run {}; it had been longer", *head, run.text),
        std::nullopt};
  if (state.sequence == 0) return broken ? broken_chain(*broken) : unknown_run(run);
  auto loaded = std::make_shared<const RunState>(std::move(state));
  cache_.keep(loaded);
  return LoadedRun{loaded, std::move(broken)};
}

Result<StatePtr> RunStore::load_intact(const RunId& run) {
  auto loaded = load(run);
  if (!loaded) return loaded.error();
  if (loaded->broken) return broken_chain(*loaded->broken);
  return loaded->state;
}

Result<RunLock> RunStore::lock(const RunId& run) {
  // Run ids become file names here, so only known ones are taken.
  const auto head = ledger_->head(run);
  if (!head) return head.error();
  if (*head == 0) return unknown_run(run);
  const auto path = folder_ / "locks" / (run.text + ".lock");
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  int code = fd ? ::flock(fd.get(), LOCK_EX) : -1;
  while (code != 0 && fd && errno == EINTR) code = ::flock(fd.get(), LOCK_EX);
  if (code != 0)
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot lock {}: {}", path.string(), std::strerror(errno)), ""};
  return RunLock(std::move(fd));
}

Result<StatePtr> RunStore::commit(const RunState& before, const Change& change) {
  const RunId run = before.run;
  Entry entry{change.event, change.fact, {}, change.removed};
  LedgerRow row{before.sequence + 1,
                change.time,
                run,
                change.version,
                change.kind,
                kPayloadSchema,
                markdown::json_text(encode(entry)),
                "",
                ""};
  RunState after = before;
  if (auto applied = apply(after, row); !applied) return applied.error();
  const auto files =
      change.render ? change.render(after, change.time) : std::vector<render::Rendered>{};

  NewRow fresh{run, change.version, change.kind, change.time, "", change.blobs};
  for (const auto& file : files) {
    const std::string digest = sha256_hex(file.text);
    entry.artifacts.push_back({file.path, digest});
    fresh.blobs.emplace(digest, file.text);
  }
  fresh.payload = markdown::json_text(encode(entry));
  if (auto appended = ledger_->append(fresh, before.sequence); !appended) return appended.error();

  auto state = load_intact(run);
  if (!state) return state;
  const fs::path folder = (*state)->contract.output_dir;
  std::error_code ignored;
  for (const auto& path : change.removed)
    if (!(*state)->artifacts.contains(path)) fs::remove(folder / path, ignored);
  for (const auto& file : files)
    if (auto written = write_file(folder / file.path, file.text); !written) return written.error();
  if (before.sequence == 0 || before.open().id != (*state)->open().id) {
    const std::string text = (*state)->open().id.text() + "\n";
    if (auto written = write_file(folder / disk::kStateFile, text); !written)
      return written.error();
  }
  return state;
}

Status RunStore::restore(const RunState& state, bool state_file) {
  const fs::path folder = state.contract.output_dir;
  std::error_code failed;
  for (const auto& [path, digest] : state.artifacts) {
    if (fs::exists(folder / path, failed)) continue;
    const auto text = ledger_->blob(digest);
    if (!text) return text.error();
    if (auto written = write_file(folder / path, *text); !written) return written;
  }
  if (!state_file) return {};
  return write_file(folder / disk::kStateFile, state.open().id.text() + "\n");
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
