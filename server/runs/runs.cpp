#include "server/runs/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "server/core/hash.h"
#include "server/runs/lab_accounts.h"
#include "server/runs/ledger/disk.h"
#include "server/runs/permits.h"
#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/guidance.h"
#include "server/runs/views.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr int kMostIterations = 10000;  // versions of one run, extensions included
constexpr int kMostListed = 100;
constexpr int kMostBranches = 16;
constexpr std::size_t kSuffixBytes = 4;  // of run ids: eight hex digits

std::string random_suffix() {
  const auto bytes = random_bytes(kSuffixBytes);
  return hex({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

Status check_contract(const NewRun& run) {
  const auto& contract = run.contract;
  const bool named = !contract.kernel_name.empty() && contract.kernel_name.size() <= 64 &&
                     std::ranges::all_of(contract.kernel_name, [](unsigned char c) {
                       return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
                     });
  if (!named)
    return invalid_argument(
        fmt::format("kernel_name: must be 1 to 64 of a-z, 0-9 and _, got \"{}\"",
                    contract.kernel_name),
        "The name is the first part of the run id.");
  if (contract.iterations < 1 || contract.iterations > kMostIterations)
    return invalid_argument(
        fmt::format("iterations: must be 1 to {}, got {}", kMostIterations, contract.iterations),
        "");
  if (contract.retries < 1)
    return invalid_argument(fmt::format("retries: must be at least 1, got {}", contract.retries),
                            "");
  if (run.secret.empty()) return invalid_argument("secret: must not be empty", "");
  if (run.search.branches < 1 || run.search.branches > kMostBranches)
    return invalid_argument(
        fmt::format("branches: must be 1 to {}, got {}", kMostBranches, run.search.branches), "");
  if (!run.v0.build.ok)
    return invalid_argument(
        fmt::format("v0 does not build: {}", run.v0.build.errors.empty()
                                                 ? "the compiler gave no reason"
                                                 : run.v0.build.errors.front().text()),
        "Fix the kernel and call create_run again; no run was created.");
  if (!has_fitting_suffix(run.v0.source.file_name, contract.implementation))
    return invalid_argument(
        fmt::format("kernel: the file \"{}\" does not fit the implementation {}, whose kernels are "
                    "files such as {}",
                    run.v0.source.file_name, name_of(contract.implementation),
                    kernel_file_name(contract.implementation)),
        "Pass another file, or the implementation that the file is written in.");
  return {};
}

/// The output directory, which is new, empty, or its old files were moved aside with the caller's
/// confirmation.
Result<fs::path> claim_folder(const NewRun& run, const std::string& suffix) {
  const auto& folder = run.output_dir;
  if (auto usable = Runs::usable_folder(folder, run.overwrite); !usable) return usable.error();
  std::error_code failed;
  if (run.overwrite && fs::exists(folder, failed))
    if (auto moved = disk::move_aside(folder, suffix); !moved) return moved.error();
  return folder;
}

BuildFact v0_fact(const NewRun& run) {
  BuildFact fact{run.v0, sha256_hex(run.v0.source.text), "", std::nullopt};
  fact.stripped_digest =
      sha256_hex(stripped_source(run.v0.source.text, is_python(run.contract.implementation)));
  fact.candidate.source.text.clear();
  return fact;
}

/// What the digest has of a suite's own times: nothing where there are none, as before there were
/// any.
std::string suite_text(const std::optional<std::vector<SuiteBaseline>>& times) {
  Json all = Json::array();
  if (times)
    for (const auto& one : *times) all.push_back(encode(one));
  return all.empty() ? "" : markdown::json_text(all);
}

CreatedFact created_fact(const NewRun& run, const fs::path& folder) {
  CreatedFact fact;
  fact.contract = run.contract;
  fact.contract_digest =
      sha256_hex(markdown::json_text(encode(run.contract)) +
                 markdown::json_text(encode(run.search)) + suite_text(run.suite_baselines));
  fact.search = run.search;
  fact.forked_from = run.forked_from;
  fact.suite_baselines = run.suite_baselines;
  fact.kernel_blob = sha256_hex(run.contract.kernel.text);
  fact.reference_blob = sha256_hex(run.contract.reference.text);
  fact.contract.kernel.text.clear();
  fact.contract.reference.text.clear();
  fact.secret_digest = sha256_hex(run.secret);
  fact.environment = run.environment;
  fact.warnings = run.warnings;
  fact.output_dir = folder.string();
  fact.v0 = v0_fact(run);
  return fact;
}

std::vector<render::Rendered> first_artifacts(const NewRun& run, const RunState& state,
                                              const std::string& time) {
  const auto& v0 = state.versions.front();
  return {{reference_file_name(run.contract.reference_kind), run.contract.reference.text},
          render::contract_json(state),
          render::environment(state, time),
          {"v0/" + kernel_file_name(run.contract.implementation), run.v0.source.text},
          render::build({state, v0, time}, *v0.build)};
}

VersionRow row_of(const RunState& state, const VersionState& version) {
  VersionRow row;
  row.version = version.id;
  row.stage = version.stage;
  if (state.masked.contains(version.id)) return row;
  row.verdict = verdict_of(version);
  row.retries_used = version.retries_used;
  if (!version.profile) return row;
  row.degraded = version.profile->degraded;
  row.bound = version.profile->bound;
  if (version.profile->fault) return row;
  row.median_ns = version.profile->timing.median.value;
  row.ci_low_ns = version.profile->timing.ci_low.value;
  row.ci_high_ns = version.profile->timing.ci_high.value;
  if (const auto* const comparison = against_v0(version)) row.speedup_vs_v0 = comparison->speedup;
  if (const auto* const comparison = against_parent(version))
    row.speedup_vs_parent = comparison->speedup;
  row.judged_on = judged_on(version);
  return row;
}

}  // namespace

Result<std::unique_ptr<Runs>> Runs::open(const fs::path& state_dir, const RunsOptions& options) {
  auto store = RunStore::open(state_dir, options.durable, options.system_log);
  if (!store) return store.error();
  return std::unique_ptr<Runs>(new Runs(*std::move(store)));
}

Runs::Runs(std::unique_ptr<RunStore> store)
    : store_(std::move(store)), labs_(std::make_unique<LabAccounts>(*store_)) {}

Runs::~Runs() = default;

void Runs::on_change(std::function<void(const RunChange&)> observer) {
  store_->on_change(std::move(observer));
}

Status Runs::usable_folder(const fs::path& folder, bool confirm) {
  if (!folder.is_absolute()) return invalid_argument("output_dir: must be an absolute path", "");
  std::error_code failed;
  if (!fs::exists(folder, failed)) return {};
  if (!fs::is_directory(folder, failed))
    return invalid_argument(fmt::format("output_dir: {} is not a folder", folder.string()),
                            "Choose a new or empty folder.");
  if (fs::is_empty(folder, failed) && !failed) return {};
  if (confirm) return disk::may_move_aside(folder);
  return Error{ErrorCode::conflict, fmt::format("output_dir: {} is not empty", folder.string()),
               "Choose a new or empty folder. Or, if it holds an earlier run that is no longer "
               "needed there, "
               "pass confirm: true: that run's files are moved into a subfolder previous-…"};
}

Result<RunView> Runs::create(const NewRun& run) {
  if (auto checked = check_contract(run); !checked) return checked.error();
  const std::string suffix = random_suffix();
  const auto folder = claim_folder(run, suffix);
  if (!folder) return folder.error();

  RunState none;
  none.run = RunId{run.contract.kernel_name + "-" + suffix};
  // The secret first: a run without a secret could never be checked; a secret without a run is
  // harmless.
  if (auto kept = store_->ledger().keep_secret(none.run, run.secret); !kept) return kept.error();
  Change change{.version = VersionId{0},
                .kind = kind::kCreated,
                .fact = encode(created_fact(run, *folder)),
                .render = [&](const RunState& state, const std::string& time) {
                  return first_artifacts(run, state, time);
                }};
  for (const auto* text :
       {&run.contract.kernel.text, &run.contract.reference.text, &run.v0.source.text})
    change.blobs.emplace(sha256_hex(*text), *text);
  return view_after(store_->commit(none, change));
}

Result<RunStatus> Runs::status(const RunId& run) {
  if (auto done = store_->finish(run); !done && done.error().code != ErrorCode::not_found)
    return done.error();
  const auto loaded = store_->load(run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  RunStatus status{view_of(state)};
  for (const auto& version : state.versions) status.versions.push_back(row_of(state, version));
  status.best = best_version(state);
  status.iterations = state.iterations;
  status.output_dir = state.contract.output_dir;
  status.contract_digest = state.contract.contract_digest;
  const auto chain = store_->ledger().first_new_break(run);
  if (!chain) return chain.error();
  if (*chain) status.integrity.push_back(**chain);
  auto head = store_->ledger().kept_head();
  if (head)
    status.ledger_head = *std::move(head);
  else
    status.integrity.push_back({"ledger_broken", head.error().message, std::nullopt});
  const auto on_disk = disk::inspect(state, disk::Extent::whole);
  status.integrity.insert(status.integrity.end(), on_disk.begin(), on_disk.end());
  if (const auto headline = headline_of(state)) status.headline = headline->text();
  status.last_result = state.last_result;
  auto guide = guidance(state, on_disk);
  status.allowed = std::move(guide.allowed);
  status.next = std::move(guide.next);
  status.weaknesses = weaknesses(state);
  status.claim = status.weaknesses.empty() ? "strong" : "weak";
  status.stop = stop_reasons(state);
  if (const auto& accepted = state.open().methods)
    for (const auto& method : accepted->methods) status.methods.push_back(method.id);
  status.frontier = frontier_of(state);
  status.masked = {state.masked.begin(), state.masked.end()};
  status.labs = lab_account(state);
  for (const auto& pair : review_pairs(state))
    if (pair.state != PairState::met)
      status.open_acceptance.push_back(
          fmt::format("{}, {}: {}", pair.number, name_of(pair.state),
                      behind_fence(fmt::format("{} ({})", pair.task, pair.criterion))));
  return status;
}

Result<RunList> Runs::list(int limit, const std::optional<std::string>& cursor) {
  if (limit < 1 || limit > kMostListed)
    return invalid_argument(fmt::format("limit: must be 1 to {}, got {}", kMostListed, limit), "");
  std::optional<std::int64_t> before;
  if (cursor) {
    std::int64_t position = 0;
    const char* const end = cursor->data() + cursor->size();
    const auto [stop, code] = std::from_chars(cursor->data(), end, position);
    if (code != std::errc{} || stop != end || position < 1)
      return invalid_argument(fmt::format("cursor: \"{}\" is not a cursor of list_runs", *cursor),
                              "Pass next_cursor from the previous page, or leave it out.");
    before = position;
  }
  // One more than requested, to know whether there is a next page.
  auto positions = store_->ledger().runs(limit + 1, before);
  if (!positions) return positions.error();
  RunList list;
  const bool more = positions->size() > static_cast<std::size_t>(limit);
  if (more) positions->pop_back();
  if (more) list.next_cursor = std::to_string(positions->back().position);
  for (const auto& position : *positions) {
    const auto loaded = store_->load(position.run);
    if (!loaded) {
      // A run that cannot be read must not hide the others.
      list.runs.push_back(
          {position.run, "unreadable: see run_status", "", {}, Stage::open, "", ""});
      continue;
    }
    const RunState& state = *loaded->state;
    list.runs.push_back({state.run, state.contract.contract.kernel_name,
                         state.contract.contract.device_name, state.open().id, state.open().stage,
                         state.created, state.contract.output_dir});
  }
  return list;
}

Result<std::vector<std::string>> Runs::artifacts(const RunId& run) {
  const auto loaded = store_->load(run);
  if (!loaded) return loaded.error();
  std::vector<std::string> paths{disk::kStateFile};
  for (const auto& [path, digest] : (*loaded->state).artifacts) paths.push_back(path);
  std::ranges::sort(paths);
  return paths;
}

Result<std::string> Runs::artifact(const RunId& run, const std::string& path) {
  const auto loaded = store_->load(run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  for (const auto& masked : state.masked)
    if (path.starts_with(masked.text() + "/"))
      return Error{ErrorCode::not_permitted,
                   fmt::format("{} is withheld because {} is masked", path, masked.text()),
                   "Call mask_memory with mask: false to show it again."};
  if (path == disk::kStateFile) return state.open().id.text() + "\n";
  const auto found = state.artifacts.find(path);
  if (found == state.artifacts.end())
    return Error{ErrorCode::not_found, fmt::format("run {} has no artifact \"{}\"", run.text, path),
                 "resources/list names what it wrote."};
  return store_->ledger().blob(found->second);
}

Result<ArtifactAnswer> Runs::record_environment(const RunId& run, const Environment& environment) {
  const auto held = hold(*store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  return artifacts_after(
      store_->commit(state, {.version = state.open().id,
                             .kind = kind::kEnvironment,
                             .fact = encode(environment),
                             .render =
                                 [](const RunState& now, const std::string& time) {
                                   return std::vector{render::environment(now, time)};
                                 }}),
      {"env_check.md"});
}

Result<RunView> Runs::extend(const RunId& run, int iterations) {
  const auto held = hold(*store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  const int most = kMostIterations - state.iterations;
  if (iterations < 1 || iterations > most)
    return invalid_argument(fmt::format(
        "iterations: a run can be extended by 1 to {} versions, got {}", most, iterations));
  ExtendedFact fact{state.iterations + iterations, std::nullopt};
  const auto& open = state.open();
  if (open.abandoned) fact.opens = VersionId{open.id.number + 1};
  return view_after(
      store_->commit(state, {.version = open.id, .kind = kind::kExtended, .fact = encode(fact)}));
}

Result<ReportAnswer> Runs::write_report(const RunId& run, const std::string& retrospective) {
  constexpr std::size_t kMostText = std::size_t{64} << 10U;
  if (retrospective.size() > kMostText)
    return Error{ErrorCode::too_large,
                 fmt::format("retrospective: the text has {} bytes; at most {} are allowed",
                             retrospective.size(), kMostText),
                 "Shorten it."};
  const auto held = ready_for(*store_, run, Event::reported);
  if (!held) return held.error();
  const RunState& state = *held->state;
  const auto head = store_->ledger().kept_head();
  if (!head) return head.error();
  auto written = artifacts_after(
      store_->commit(state, {.version = state.open().id,
                             .kind = kind::kReport,
                             .fact = encode(ReportFact{retrospective, *head}),
                             .render =
                                 [&](const RunState& now, const std::string& time) {
                                   auto files = render::ledgers(now, time);
                                   files.push_back(render::final_report(now, retrospective, time));
                                   files.push_back(render::summary(now, retrospective, time));
                                   files.push_back(render::page(now, retrospective, time));
                                   return files;
                                 }}),
      {"final_report.md", "summary.md", "report.html", "ledgers/attempt-ledger.md",
       "ledgers/optimization-ledger.md", "ledgers/lineage.jsonl"});
  if (!written) return written.error();
  return ReportAnswer{*std::move(written), render::headline_text(state)};
}

}  // namespace ratchet
