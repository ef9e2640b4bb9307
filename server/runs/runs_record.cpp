#include <fmt/format.h>

#include "server/core/hash.h"
#include "server/runs/ledger/disk.h"
#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/method_rules.h"
#include "server/runs/runs_impl.h"

namespace ratchet {
namespace {

/// Refuses what the stage does not allow, and what used-up retries no longer allow.
Status check_stage(const RunState& state, Event event) {
  const auto& open = state.open();
  if (auto next = stage_after(open, event); !next) {
    Error error = refusal(state, next.error());
    error.message = fmt::format("{} of run {}: {}", open.id.text(), state.run.text, error.message);
    return error;
  }
  const bool tries = event == Event::submitted || event == Event::checked ||
                     event == Event::proposed || event == Event::explored;
  if (!tries || !state.retries_exhausted()) return {};
  if (open.stage != (open.id.number == 0 ? Stage::built : Stage::open)) return {};
  return refusal(state, {ErrorCode::wrong_stage,
                         fmt::format("{} failed {} times and has no retry left", open.id.text(),
                                     open.retries_used),
                         ""});
}

/// The version a benchmark is about: the given one, else the best after the final gate, else the
/// open one. It must have a correct kernel.
Result<VersionId> benchmark_subject(const RunState& state, const std::optional<VersionId>& wanted) {
  const auto& open = state.open();
  VersionId id = open.id;
  if (wanted)
    id = *wanted;
  else if (open.stage == Stage::finished)
    id = best_version(state).value_or(open.id);
  const auto* const version = state.find(id);
  if (version == nullptr)
    return Error{ErrorCode::not_found, fmt::format("run {} has no {}", state.run.text, id.text()),
                 "run_status lists the versions."};
  if (state.masked.contains(id)) return masked_version(id);
  if (version->is_correct()) return id;
  if (auto allowed = check_stage(state, Event::benchmarked); !allowed && id == open.id)
    return allowed.error();
  return Error{ErrorCode::wrong_stage,
               fmt::format("{} has no kernel that passed its check", id.text()),
               "Name a correct version; run_status lists them."};
}

Error wrong_binary(const VersionState& version, const std::string& measured) {
  return {ErrorCode::conflict,
          fmt::format("the measurement is of binary {}, the kernel of {} is binary {}", measured,
                      version.id.text(), version.build->candidate.build.binary_digest),
          "Call the tool again."};
}

bool is_of_binary(const VersionState& version, const std::string& measured) {
  return version.build && version.build->candidate.build.binary_digest == measured;
}

/// Artifacts of the version that a new kernel makes void. Methods were accepted for the version,
/// and branches were measured, whatever its kernel is.
std::vector<std::string> superseded(const RunState& state, VersionId id) {
  std::vector<std::string> paths;
  const std::string folder = id.text() + "/";
  for (const auto& [path, digest] : state.artifacts_in(id.text()))
    if (!path.starts_with(folder + "branches") && path != folder + "methods.json")
      paths.push_back(path);
  if (state.artifacts.contains(render::plan_path(id))) paths.push_back(render::plan_path(id));
  return paths;
}

}  // namespace

Result<StatePtr> RunsImpl::ready_for(const RunId& run, Event event) {
  auto state = store_->load_intact(run);
  if (!state) return state;
  if (auto allowed = check_stage(**state, event); !allowed) return allowed.error();
  if (auto checked = check_disk(**state, event); !checked) return checked.error();
  return state;
}

Status RunsImpl::check_disk(const RunState& state, Event event) {
  const bool is_step =
      event != Event::benchmarked && event != Event::tuned && event != Event::reported;
  const auto findings = is_step ? disk::inspect(state, disk::Extent::step, store_->digests())
                                : disk::inspect_bytes(state);
  if (auto drift = disk::blocking(findings, event)) return *drift;
  return store_->restore(state, disk::missing(state, findings));
}

Result<Permit> RunsImpl::permit(const RunId& run, Event event, std::optional<VersionId> version) {
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  auto state = store_->load_intact(run);
  if (!state) return state.error();
  VersionId subject = (*state)->open().id;
  if (event == Event::benchmarked) {
    const auto found = benchmark_subject(**state, version);
    if (!found) return found.error();
    subject = *found;
    if (auto checked = check_disk(**state, event); !checked) return checked.error();
  } else {
    if (version && *version != subject)
      return Error{
          ErrorCode::wrong_stage,
          fmt::format("{} is closed or not open yet; {} is open", version->text(), subject.text()),
          "Leave version out: the step acts on the open version."};
    state = ready_for(run, event);
    if (!state) return state.error();
    if (event == Event::explored && !(*state)->open().methods)
      return Error{ErrorCode::wrong_stage,
                   fmt::format("{} of run {}: branches follow from methods, and none are accepted",
                               subject.text(), run.text),
                   "Call propose_methods first; list_methods shows the budget."};
  }

  return make_permit(**state, subject, event);
}

Result<Permit> RunsImpl::make_permit(const RunState& state, VersionId subject, Event event) {
  auto contract = store_->contract(state);
  if (!contract) return contract.error();
  auto secret = store_->ledger().secret(state.run);
  if (!secret) return secret.error();
  if (sha256_hex(*secret) != state.contract.secret_digest)
    return Error{ErrorCode::drift, fmt::format("the secret of run {} was changed", state.run.text),
                 "Create a new run."};
  Permit permit{state.run,         subject, event, state.sequence, *std::move(contract),
                *std::move(secret)};
  const auto* const own = state.find(subject);
  const auto* parent = own->parent ? state.find(*own->parent) : nullptr;
  const auto fill = [&](std::optional<Candidate>& slot, const VersionState* from) -> Status {
    if (from == nullptr || !from->build) return {};
    auto candidate = store_->candidate(*from->build);
    if (!candidate) return candidate.error();
    slot = *std::move(candidate);
    return {};
  };
  if (auto filled = fill(permit.candidate, own); !filled) return filled.error();
  // Nobody is compared with itself, nor twice with one kernel. Where v0 is the parent it takes part
  // under the name that counts: a verdict is against the parent, a benchmark row against v0.
  const auto* v0 = subject.number == 0 ? nullptr : &state.versions.front();
  if (parent != nullptr && parent == v0) (event == Event::benchmarked ? parent : v0) = nullptr;
  if (auto filled = fill(permit.parent, parent); !filled) return filled.error();
  if (auto filled = fill(permit.v0, v0); !filled) return filled.error();
  if (const auto* const base = search_base(state); base != nullptr && event == Event::explored) {
    permit.incumbent_version = base->id;
    if (auto filled = fill(permit.incumbent, base); !filled) return filled.error();
  }
  permit.profile = own->profile;
  permit.search = state.contract.search;
  if (own->methods)
    for (const auto& method : own->methods->methods) permit.methods.push_back(method.id);
  return permit;
}

Result<StatePtr> RunsImpl::still_valid(const Permit& permit, Event granted) {
  if (permit.event != granted)
    return Error{
        ErrorCode::internal,
        fmt::format("leave was given for {}, not for {}", name_of(permit.event), name_of(granted)),
        ""};
  auto state = store_->load_intact(permit.run);
  if (!state) return state;
  if ((*state)->moved > permit.sequence)
    return Error{ErrorCode::conflict,
                 fmt::format("{} of run {} moved on meanwhile ({})", permit.version.text(),
                             permit.run.text, (*state)->last_result),
                 "Nothing was recorded. Call run_status, then the tool it names."};
  if (auto drift = disk::blocking(disk::inspect_contract(**state, store_->digests()), granted))
    return *drift;
  return state;
}

Result<RunView> RunsImpl::record_build(const Permit& permit, const Candidate& candidate,
                                       const std::optional<std::string>& note) {
  const auto lock = store_->lock(permit.run);
  if (!lock) return lock.error();
  const auto state = still_valid(permit, Event::submitted);
  if (!state) return state.error();
  const auto implementation = (*state)->contract.contract.implementation;
  const std::string kernel = kernel_file_name(implementation);
  if (!has_fitting_suffix(candidate.source.file_name, implementation))
    return Error{ErrorCode::invalid_argument,
                 fmt::format("path: \"{}\" cannot be the kernel of a {} run",
                             candidate.source.file_name, name_of(implementation)),
                 fmt::format("Submit {}.", kernel)};

  BuildFact fact{candidate, sha256_hex(candidate.source.text),
                 sha256_hex(stripped_source(candidate.source.text, is_python(implementation))),
                 note};
  fact.candidate.source.text.clear();
  const bool ok = candidate.build.ok;
  // A failed build of a version that has a measured kernel leaves that kernel's build.md in place.
  const bool writes = ok || (*state)->open().stage == Stage::open;
  Change change{permit.version,
                kind::kBuild,
                ok ? Event::submitted : Event::build_failed,
                encode(fact),
                {{fact.source_blob, candidate.source.text}},
                {},
                {}};
  if (ok) change.removed = superseded(**state, permit.version);
  change.render = [&](const RunState& after, const std::string& time) {
    std::vector<render::Rendered> files;
    if (writes) files.push_back(render::build({after, after.open(), time}, fact));
    if (ok) files.push_back({permit.version.text() + "/" + kernel, candidate.source.text});
    return files;
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return view_of(**after);
}

Result<RunView> RunsImpl::record_correctness(const Permit& permit,
                                             const CorrectnessReport& report) {
  const auto lock = store_->lock(permit.run);
  if (!lock) return lock.error();
  const auto state = still_valid(permit, Event::checked);
  if (!state) return state.error();
  if (!is_of_binary((*state)->open(), report.candidate_digest))
    return wrong_binary((*state)->open(), report.candidate_digest);
  Change change{permit.version,
                kind::kCorrectness,
                report.passed ? Event::checked : Event::check_failed,
                encode(report),
                {},
                {},
                {}};
  change.render = [](const RunState& after, const std::string& time) {
    return std::vector{render::correctness({after, after.open(), time})};
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return view_of(**after);
}

Result<RunView> RunsImpl::record_profile(const Permit& permit, const Profile& profile) {
  const auto lock = store_->lock(permit.run);
  if (!lock) return lock.error();
  const auto state = still_valid(permit, Event::profiled);
  if (!state) return state.error();
  if (!is_of_binary((*state)->open(), profile.candidate_digest))
    return wrong_binary((*state)->open(), profile.candidate_digest);
  const bool invalid = profile.fault || profile.verdict == Verdict::invalid;
  Change change{permit.version,
                kind::kProfile,
                invalid ? Event::profile_invalid : Event::profiled,
                encode(profile),
                {},
                {},
                {}};
  change.render = [&](const RunState& after, const std::string& time) {
    const render::Subject subject{after, after.open(), time};
    auto files = render::profile(subject);
    files.push_back(render::analysis(subject));
    if (profile.report)
      files.push_back(
          {after.open().id.text() + "/" + profile.report->name, profile.report->content});
    return files;
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return view_of(**after);
}

Result<ArtifactAnswer> RunsImpl::record_benchmark(const Permit& permit,
                                                  const BenchmarkReport& report) {
  const auto lock = store_->lock(permit.run);
  if (!lock) return lock.error();
  const auto state = still_valid(permit, Event::benchmarked);
  if (!state) return state.error();
  const auto* const version = (*state)->find(permit.version);
  if (version == nullptr || !is_of_binary(*version, report.candidate_digest))
    return wrong_binary(version == nullptr ? (*state)->open() : *version, report.candidate_digest);
  const BenchmarkFact fact{report, (*state)->open().stage == Stage::finished};
  Change change{permit.version, kind::kBenchmark, std::nullopt, encode(fact), {}, {}, {}};
  change.render = [&](const RunState& after, const std::string& time) {
    return std::vector{render::benchmark({after, *after.find(permit.version), time}, fact)};
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return artifact_answer(**after, {"benchmark.md"});
}

Result<ArtifactAnswer> RunsImpl::record_sanitizer(const Permit& permit,
                                                  const SanitizerReport& report) {
  const auto lock = store_->lock(permit.run);
  if (!lock) return lock.error();
  const auto state = still_valid(permit, Event::sanitized);
  if (!state) return state.error();
  if (!is_of_binary((*state)->open(), report.candidate_digest))
    return wrong_binary((*state)->open(), report.candidate_digest);
  Change change{permit.version, kind::kSanitizer, std::nullopt, encode(report), {}, {}, {}};
  change.render = [&](const RunState& after, const std::string& time) {
    return std::vector{render::sanitizer({after, after.open(), time}, report)};
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return artifact_answer(**after, {permit.version.text() + "/sanitizer.md"});
}

}  // namespace ratchet
