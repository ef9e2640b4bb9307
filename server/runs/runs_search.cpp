// The search on top of versions: forks, methods, branches, ablations, dispatchers.

#include <fmt/format.h>

#include <algorithm>

#include "server/core/hash.h"
#include "server/runs/permits.h"
#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/attribution.h"
#include "server/runs/rules/method_rules.h"
#include "server/runs/runs.h"
#include "server/runs/views.h"

namespace ratchet {
namespace {

/// A method as list_methods shows it.
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
  line.note = branch.note;
  line.lab = branch.lab;
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

/// Whether an exploration uses a retry: no branch works, and at least one of them was built.
bool failed_for_good(const BranchesFact& fact) {
  const auto is = [&](BranchStatus status) {
    return [status](const BranchResult& branch) { return branch.status == status; };
  };
  return std::ranges::none_of(fact.branches, is(BranchStatus::frontier)) &&
         !std::ranges::all_of(fact.branches, is(BranchStatus::build_failed));
}

/// Moves source texts into `blobs`.
void store_sources(BranchesFact& fact, bool python, std::map<std::string, std::string>& blobs) {
  for (auto& branch : fact.branches) {
    auto& text = branch.candidate.source.text;
    branch.source_blob = sha256_hex(text);
    branch.stripped_digest = sha256_hex(stripped_source(text, python));
    blobs.emplace(branch.source_blob, std::move(text));
    text.clear();
  }
}

/// The kernel, with its source text, of a correct, unmasked version.
Result<Candidate> usable_kernel(RunStore& store, const RunState& state, VersionId id) {
  const auto* const version = state.find(id);
  if (version == nullptr) return no_version(state.run, id);
  if (state.masked.contains(id)) return masked_version(id);
  if (!version->is_correct())
    return Error{ErrorCode::wrong_stage,
                 fmt::format("{} has no kernel that passed its check", id.text()),
                 "Name a version that passed its check; run_status lists the versions."};
  return store.candidate(*version->build);
}

}  // namespace

Result<ForkSource> Runs::fork_source(const ForkOrigin& origin) {
  const auto state = store_->load_intact(origin.run);
  if (!state) return state.error();
  auto kernel = usable_kernel(*store_, **state, origin.version);
  if (!kernel) return kernel.error();
  auto contract = store_->contract(**state);
  if (!contract) return contract.error();
  contract->kernel = std::move(kernel->source);
  std::erase_if(contract->cases, [](const Case& one) { return one.hidden; });
  const auto& created = (*state)->contract;
  return ForkSource{origin, *std::move(contract), created.search, created.suite_baselines};
}

Result<std::vector<Candidate>> Runs::kernels_of(const RunId& run,
                                                const std::vector<VersionId>& versions) {
  const auto state = store_->load_intact(run);
  if (!state) return state.error();
  std::vector<Candidate> kernels;
  for (const auto& id : versions) {
    auto kernel = usable_kernel(*store_, **state, id);
    if (!kernel) return kernel.error();
    kernels.push_back(*std::move(kernel));
  }
  return kernels;
}

Result<MethodList> Runs::methods(const std::optional<RunId>& run) {
  MethodList list;
  if (!run) {
    for (const auto& method : method_registry())
      list.methods.push_back(line_of(MethodStanding{.method = &method}));
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
  list.budget = budget_of(*base->profile, search.methods, search.axis_cap);
  list.near_peak = near_peak(*base->profile);
  return list;
}

Result<ProposalAnswer> Runs::propose_methods(const RunId& run,
                                             const std::vector<ProposedMethod>& methods) {
  const auto held = ready_for(*store_, run, Event::proposed);
  if (!held) return held.error();
  const RunState& state = *held->state;
  if (auto reasons = proposal_reasons(state, methods); !reasons.empty())
    return ProposalAnswer{view_of(state), false, std::move(reasons), {}, {}};
  MethodsFact fact = methods_fact(state, methods);
  const auto after =
      store_->commit(state, {.version = state.open().id,
                             .kind = kind::kMethods,
                             .fact = encode(fact),
                             .render = [](const RunState& now, const std::string& time) {
                               return std::vector{render::methods({now, now.open(), time})};
                             }});
  if (!after) return after.error();
  const std::string path = state.open().id.text() + "/methods.json";
  return ProposalAnswer{
      view_of(**after), true, {}, std::move(fact.methods), absolute_paths(**after, {path}).front()};
}

Result<BranchesAnswer> Runs::record_branches(const Permit& permit, BranchesFact found) {
  const auto held = still_valid(*store_, permit, Event::explored);
  if (!held) return held.error();
  const auto implementation = held->state->contract.contract.implementation;
  Change change{.version = permit.version, .kind = kind::kBranches, .fact = {}};
  std::map<std::string, std::string> texts;
  for (const auto& branch : found.branches) texts[branch.name] = branch.candidate.source.text;
  store_sources(found, is_python(implementation), change.blobs);
  decide(found);
  if (found.champion)
    change.event = Event::explored;
  else if (failed_for_good(found))
    change.event = Event::branches_failed;
  change.fact = encode(found);
  change.render = [&](const RunState& now, const std::string& time) {
    const render::Subject subject{now, now.open(), time};
    auto files = render::branches(subject);
    const std::string folder = permit.version.text();
    const std::string kernel = kernel_file_name(implementation);
    for (const auto& [name, text] : texts)
      files.push_back({folder + "/branches/" + name + "/" + kernel, text});
    if (found.champion) {
      files.push_back({folder + "/" + kernel, texts.at(*found.champion)});
      files.push_back(render::build(subject, *now.open().build));
      files.push_back(render::correctness(subject));
    }
    return files;
  };
  const auto after = store_->commit(*held->state, change);
  if (!after) return after.error();
  BranchesAnswer answer{view_of(**after),    found.champion, found.decision, found.incumbent, {},
                        frontier_of(**after)};
  for (const auto& branch : found.branches) answer.branches.push_back(line_of(branch));
  return answer;
}

Result<AblationAnswer> Runs::record_ablation(const Permit& permit, AblationFact found) {
  const auto held = still_valid(*store_, permit, Event::ablated);
  if (!held) return held.error();
  const RunState& state = *held->state;
  AttributionContext context;
  context.improved = verdict_of(*state.find(permit.version)) == Verdict::faster;
  context.on_gpu = state.contract.contract.device_kind == DeviceKind::cuda;
  if (const auto seen = state.signatures.find(found.candidate_digest);
      seen != state.signatures.end())
    context.signatures = seen->second;
  std::vector<std::string> methods;
  for (const auto& build : found.builds)
    if (build.without.size() == 1) methods.push_back(build.without.front());
  attribute(found, methods, context);
  const auto after =
      store_->commit(state, {.version = permit.version,
                             .kind = kind::kAblation,
                             .fact = encode(found),
                             .render = [&](const RunState& now, const std::string& time) {
                               return render::attribution({now, *now.find(permit.version), time});
                             }});
  if (!after) return after.error();
  const std::string path = permit.version.text() + "/attribution.json";
  return AblationAnswer{view_of(**after), found.attribution, found.interaction_ns,
                        absolute_paths(**after, {path}).front()};
}

Status Runs::record_signatures(const RunId& run, VersionId version, const SignatureFact& seen) {
  const auto held = hold(*store_, run);
  if (!held) return held.error();
  const auto after = store_->commit(
      *held->state, {.version = version, .kind = kind::kSignatures, .fact = encode(seen)});
  if (!after) return after.error();
  return {};
}

Result<ArtifactAnswer> Runs::record_dispatch(const Permit& permit, DispatchFact found) {
  const auto held = still_valid(*store_, permit, Event::tuned);
  if (!held) return held.error();
  Change change{.version = permit.version, .kind = kind::kDispatch, .fact = {}};
  std::string text;
  if (found.dispatcher) {
    text = std::move(found.dispatcher->source.text);
    found.dispatcher->source.text.clear();
    change.blobs.emplace(sha256_hex(text), text);
  }
  change.fact = encode(found);
  std::vector<std::string> written;
  change.render = [&](const RunState& now, const std::string& time) {
    auto files = render::dispatch(now, time);
    const auto implementation = now.contract.contract.implementation;
    if (!text.empty()) files.push_back({"dispatch/" + kernel_file_name(implementation), text});
    for (const auto& file : files) written.push_back(file.path);
    return files;
  };
  const auto after = store_->commit(*held->state, change);
  return artifacts_after(after, written);
}

}  // namespace ratchet
