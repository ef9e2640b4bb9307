// The search on top of versions: forks, methods, branches, ablations, dispatchers.

#include <fmt/format.h>

#include <algorithm>

#include "server/core/hash.h"
#include "server/runs/ledger/disk.h"
#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/attribution.h"
#include "server/runs/rules/method_rules.h"
#include "server/runs/runs_impl.h"

namespace ratchet {
namespace {

/// The first trigger in words, and what the method needs.
MethodLine line_of(const MethodStanding& standing) {
  const auto& method = *standing.method;
  MethodLine line;
  line.id = method.id;
  line.priority = method.priority;
  line.strength = standing.strength;
  line.excluded = standing.excluded;
  line.title = method.title;
  line.page = method.page;
  std::string triggers;
  for (const auto& trigger : method.triggers)
    triggers += fmt::format("{}{}: {:g} … {:g}", triggers.empty() ? "" : "; ", trigger.metric,
                            trigger.good, trigger.bad);
  if (!triggers.empty()) line.trigger = triggers;
  if (method.min_sm > 0 || !method.features.empty())
    line.needs = fmt::format("sm_{}{}{}", method.min_sm, method.features.empty() ? "" : ", ",
                             fmt::join(method.features, ", "));
  line.macro = ablation_macro(method);
  return line;
}

BranchLine line_of(const BranchResult& branch) {
  BranchLine line;
  line.name = branch.name;
  line.status = branch.status;
  line.confirmed = branch.confirmation.has_value();
  line.diff_lines = branch.diff_lines;
  line.reasons = branch.reasons;
  const auto& timing = branch.timing ? branch.timing : branch.screened;
  if (timing) line.median_ns = timing->median.value;
  const auto& compared = branch.confirmation ? branch.confirmation : branch.screening;
  if (compared) {
    line.speedup = compared->speedup;
    line.ci_low = compared->ci_low;
    line.ci_high = compared->ci_high;
  }
  return line;
}

/// Whether an exploration spends a retry: nothing works, and something else than a compiler said
/// so.
bool failed_for_good(const BranchesFact& fact) {
  const auto is = [&](BranchStatus status) {
    return [status](const BranchResult& branch) { return branch.status == status; };
  };
  return std::ranges::none_of(fact.branches, is(BranchStatus::frontier)) &&
         !std::ranges::all_of(fact.branches, is(BranchStatus::build_failed));
}

/// Moves source texts into blobs.
void store_sources(BranchesFact& fact, bool python, std::map<std::string, std::string>& blobs) {
  for (auto& branch : fact.branches) {
    auto& text = branch.candidate.source.text;
    branch.source_blob = sha256_hex(text);
    branch.stripped_digest = sha256_hex(stripped_source(text, python));
    blobs.emplace(branch.source_blob, std::move(text));
    text.clear();
  }
}

/// A correct, unmasked version.
Result<const VersionState*> usable_version(const RunState& state, VersionId id) {
  const auto* const version = state.find(id);
  if (version == nullptr)
    return Error{ErrorCode::not_found, fmt::format("run {} has no {}", state.run.text, id.text()),
                 "run_status lists the versions."};
  if (state.masked.contains(id)) return masked_version(id);
  if (!version->is_correct())
    return Error{ErrorCode::wrong_stage,
                 fmt::format("{} has no kernel that passed its check", id.text()),
                 "Name a correct version; run_status lists them."};
  return version;
}

}  // namespace

std::vector<std::string> frontier_of(const RunState& state) {
  std::vector<std::string> lines;
  for (const auto& version : state.versions) {
    if (state.masked.contains(version.id)) continue;
    for (const auto& exploration : version.explorations)
      for (const auto& branch : exploration.branches) {
        if (branch.status != BranchStatus::frontier) continue;
        const auto& compared = branch.confirmation ? branch.confirmation : branch.screening;
        lines.push_back(fmt::format(
            "{}/{}: {}{}{}", version.id.text(), branch.name,
            compared ? fmt::format("{:.3f}x {}", compared->speedup, exploration.incumbent.text())
                     : std::string("not timed"),
            branch.note ? ", " : "", markdown::one_line(branch.note.value_or(""))));
      }
  }
  return lines;
}

Result<ForkSource> RunsImpl::fork_source(const ForkOrigin& origin) {
  const auto state = store_->load_intact(origin.run);
  if (!state) return state.error();
  const auto version = usable_version(**state, origin.version);
  if (!version) return version.error();
  auto contract = store_->contract(**state);
  if (!contract) return contract.error();
  auto candidate = store_->candidate(*(*version)->build);
  if (!candidate) return candidate.error();
  contract->kernel = std::move(candidate->source);
  std::erase_if(contract->cases, [](const Case& one) { return one.hidden; });
  return ForkSource{origin, *std::move(contract), (*state)->contract.search};
}

Result<std::vector<Candidate>> RunsImpl::kernels_of(const RunId& run,
                                                    const std::vector<VersionId>& versions) {
  const auto state = store_->load_intact(run);
  if (!state) return state.error();
  std::vector<Candidate> kernels;
  for (const auto& id : versions) {
    const auto version = usable_version(**state, id);
    if (!version) return version.error();
    auto candidate = store_->candidate(*(*version)->build);
    if (!candidate) return candidate.error();
    kernels.push_back(*std::move(candidate));
  }
  return kernels;
}

Result<MethodList> RunsImpl::methods(const std::optional<RunId>& run) {
  MethodList list;
  if (!run) {
    for (const auto& method : method_registry())
      list.methods.push_back(line_of(MethodStanding{&method, {}, {}, {}}));
    return list;
  }
  const auto loaded = store_->load(*run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  const auto* const base = search_base(state);
  for (const auto& standing : standings(state, base)) list.methods.push_back(line_of(standing));
  if (base == nullptr) return list;
  const auto& search = state.contract.search;
  list.base = base->id;
  list.gaps = gaps_of(*base->profile);
  list.budget = budget_of(*list.gaps, search.methods, search.axis_cap);
  list.near_peak = near_peak(*base->profile);
  return list;
}

Result<ProposalAnswer> RunsImpl::propose_methods(const RunId& run,
                                                 const std::vector<ProposedMethod>& methods) {
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto state = ready_for(run, Event::proposed);
  if (!state) return state.error();
  ProposalAnswer answer;
  answer.reasons = proposal_reasons(**state, methods);
  if (!answer.reasons.empty()) {
    static_cast<RunView&>(answer) = view_of(**state);
    return answer;
  }
  MethodsFact fact = methods_fact(**state, methods);
  Change change{(*state)->open().id, kind::kMethods, std::nullopt, encode(fact), {}, {}, {}};
  change.render = [](const RunState& after, const std::string& time) {
    return std::vector{render::methods({after, after.open(), time})};
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  static_cast<RunView&>(answer) = view_of(**after);
  answer.accepted = true;
  answer.methods = std::move(fact.methods);
  answer.artifact =
      artifact_answer(**after, {(*after)->open().id.text() + "/methods.json"}).artifacts.front();
  return answer;
}

Result<BranchesAnswer> RunsImpl::record_branches(const Permit& permit, BranchesFact found) {
  const auto lock = store_->lock(permit.run);
  if (!lock) return lock.error();
  const auto state = still_valid(permit, Event::explored);
  if (!state) return state.error();
  const auto implementation = (*state)->contract.contract.implementation;
  Change change{permit.version, kind::kBranches, std::nullopt, {}, {}, {}, {}};
  std::map<std::string, std::string> texts;
  for (const auto& branch : found.branches) texts[branch.name] = branch.candidate.source.text;
  store_sources(found, is_python(implementation), change.blobs);
  decide(found);
  if (found.champion)
    change.event = Event::explored;
  else if (failed_for_good(found))
    change.event = Event::branches_failed;
  change.fact = encode(found);
  const std::string kernel = kernel_file_name(implementation);
  change.render = [&](const RunState& after, const std::string& time) {
    const render::Subject subject{after, after.open(), time};
    auto files = render::branches(subject);
    const std::string folder = permit.version.text();
    for (const auto& [name, text] : texts)
      files.push_back({folder + "/branches/" + name + "/" + kernel, text});
    if (found.champion) {
      files.push_back({folder + "/" + kernel, texts.at(*found.champion)});
      files.push_back(render::build(subject, *after.open().build));
      files.push_back(render::correctness(subject));
    }
    return files;
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  BranchesAnswer answer;
  static_cast<RunView&>(answer) = view_of(**after);
  answer.champion = found.champion;
  answer.decision = found.decision;
  answer.incumbent = found.incumbent;
  for (const auto& branch : found.branches) answer.branches.push_back(line_of(branch));
  answer.frontier = frontier_of(**after);
  return answer;
}

Result<AblationAnswer> RunsImpl::record_ablation(const Permit& permit, AblationFact found) {
  const auto lock = store_->lock(permit.run);
  if (!lock) return lock.error();
  const auto state = still_valid(permit, Event::ablated);
  if (!state) return state.error();
  const auto* const version = (*state)->find(permit.version);
  AttributionContext context;
  context.improved = verdict_of(*version) == Verdict::faster;
  context.on_gpu = (*state)->contract.contract.device_kind == DeviceKind::cuda;
  if (const auto seen = (*state)->signatures.find(found.candidate_digest);
      seen != (*state)->signatures.end())
    context.signatures = seen->second;
  std::vector<std::string> methods;
  for (const auto& build : found.builds)
    if (build.without.size() == 1) methods.push_back(build.without.front());
  attribute(found, methods, context);
  Change change{permit.version, kind::kAblation, std::nullopt, encode(found), {}, {}, {}};
  change.render = [&](const RunState& after, const std::string& time) {
    return render::attribution({after, *after.find(permit.version), time});
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  AblationAnswer answer;
  static_cast<RunView&>(answer) = view_of(**after);
  answer.attribution = found.attribution;
  answer.interaction_ns = found.interaction_ns;
  answer.artifact =
      artifact_answer(**after, {permit.version.text() + "/attribution.json"}).artifacts.front();
  return answer;
}

Status RunsImpl::record_signatures(const RunId& run, VersionId version, const SignatureFact& seen) {
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto state = store_->load_intact(run);
  if (!state) return state.error();
  const Change change{version, kind::kSignatures, std::nullopt, encode(seen), {}, {}, {}};
  if (const auto after = store_->commit(**state, change); !after) return after.error();
  return {};
}

Result<ArtifactAnswer> RunsImpl::record_dispatch(const Permit& permit, DispatchFact found) {
  const auto lock = store_->lock(permit.run);
  if (!lock) return lock.error();
  const auto state = still_valid(permit, Event::tuned);
  if (!state) return state.error();
  Change change{permit.version, kind::kDispatch, std::nullopt, {}, {}, {}, {}};
  std::string text;
  if (found.dispatcher) {
    text = std::move(found.dispatcher->source.text);
    found.dispatcher->source.text.clear();
    change.blobs.emplace(sha256_hex(text), text);
  }
  change.fact = encode(found);
  std::vector<std::string> written;
  change.render = [&](const RunState& after, const std::string& time) {
    auto files = render::dispatch(after, time);
    const auto implementation = after.contract.contract.implementation;
    if (!text.empty()) files.push_back({"dispatch/" + kernel_file_name(implementation), text});
    for (const auto& file : files) written.push_back(file.path);
    return files;
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return artifact_answer(**after, written);
}

}  // namespace ratchet
