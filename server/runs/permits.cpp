#include "server/runs/permits.h"

#include <fmt/format.h>

#include "server/core/hash.h"
#include "server/runs/ledger/disk.h"
#include "server/runs/rules/guidance.h"
#include "server/runs/rules/method_rules.h"
#include "server/runs/views.h"

namespace ratchet {
namespace {

/// The version to benchmark: the given one, otherwise the best one after the final gate, otherwise
/// the open one. It must have a correct kernel.
Result<VersionId> benchmark_subject(const RunState& state, const std::optional<VersionId>& wanted) {
  const auto& open = state.open();
  VersionId id = open.id;
  if (wanted)
    id = *wanted;
  else if (open.stage == Stage::finished)
    id = best_version(state).value_or(open.id);
  const auto* const version = state.find(id);
  if (version == nullptr) return no_version(state.run, id);
  if (state.masked.contains(id)) return masked_version(id);
  if (version->is_correct()) return id;
  if (auto allowed = step_allowed(state, Event::benchmarked); !allowed && id == open.id)
    return allowed.error();
  return Error{ErrorCode::wrong_stage,
               fmt::format("{} has no kernel that passed its check", id.text()),
               "Name a version that passed its check; run_status lists the versions."};
}

Error with_way_back(const RunState& state, const std::vector<Reason>& findings, Error drift) {
  drift.hint = guidance(state, findings).next;
  return drift;
}

/// Refuses a step for changed files, and writes missing files again. A step on the open version
/// reads the files that it works on; a benchmark, a dispatcher and a report, which speak of all
/// versions, read every file.
Status check_disk(RunStore& store, const RunState& state, Event event) {
  const bool whole =
      event == Event::benchmarked || event == Event::tuned || event == Event::reported;
  const auto findings = disk::inspect(state, whole ? disk::Extent::whole : disk::Extent::step);
  if (auto drift = disk::blocking(findings, event)) return with_way_back(state, findings, *drift);
  return store.restore(state, disk::missing(state, findings));
}

Status check_ready(RunStore& store, const RunState& state, Event event) {
  if (auto allowed = step_allowed(state, event); !allowed) return allowed;
  return check_disk(store, state, event);
}

/// A permit for a step on `subject`, with what the step works on.
Result<Permit> make_permit(RunStore& store, const RunState& state, VersionId subject, Event event) {
  auto contract = store.contract(state);
  if (!contract) return contract.error();
  auto secret = store.ledger().secret(state.run);
  if (!secret) return secret.error();
  if (sha256_hex(*secret) != state.contract.secret_digest)
    return Error{ErrorCode::drift,
                 fmt::format("the secret of run {}, from which its inputs are drawn, is not the "
                             "one that its contract recorded",
                             state.run.text),
                 "Its results could not be trusted: call create_run to start another run."};
  Permit permit{.run = state.run,
                .version = subject,
                .event = event,
                .sequence = state.sequence,
                .contract = *std::move(contract),
                .secret = *std::move(secret),
                .profile = {},
                .search = state.contract.search,
                .suite_baselines = state.contract.suite_baselines};
  if (!state.found_values.empty()) permit.contract.found_values = state.found_values;
  const auto* const own = state.find(subject);
  const auto* parent = own->parent ? state.find(*own->parent) : nullptr;
  const auto fill = [&](std::optional<Candidate>& slot, const VersionState* from) -> Status {
    if (from == nullptr || !from->build) return {};
    auto candidate = store.candidate(*from->build);
    if (!candidate) return candidate.error();
    slot = *std::move(candidate);
    return {};
  };
  if (auto filled = fill(permit.candidate, own); !filled) return filled.error();
  // A version is not compared with itself, and no kernel takes part twice. Where v0 is the parent,
  // it takes part under the name that counts: verdicts are against the parent, benchmark rows
  // against v0.
  const auto* v0 = subject.number == 0 ? nullptr : &state.versions.front();
  if (parent != nullptr && parent == v0) (event == Event::benchmarked ? parent : v0) = nullptr;
  if (auto filled = fill(permit.parent, parent); !filled) return filled.error();
  if (auto filled = fill(permit.v0, v0); !filled) return filled.error();
  if (const auto* const base = search_base(state); base != nullptr && event == Event::explored) {
    permit.incumbent_version = base->id;
    if (auto filled = fill(permit.incumbent, base); !filled) return filled.error();
  }
  if (event == Event::profiled && subject.number > 0) {
    permit.best_version = best_version(state, subject);
    const bool takes_part = permit.best_version && own->parent != permit.best_version &&
                            permit.best_version->number != 0;
    if (takes_part)
      if (auto filled = fill(permit.best, state.find(*permit.best_version)); !filled)
        return filled.error();
  }
  permit.profile = own->profile;
  if (own->methods)
    for (const auto& method : own->methods->methods) permit.methods.push_back(method.id);
  return permit;
}

}  // namespace

Status own_folder(const RunState& state) {
  const auto taken = disk::taken(state);
  if (!taken) return {};
  return with_way_back(state, {*taken}, {ErrorCode::drift, taken->text(), ""});
}

Result<HeldRun> hold(RunStore& store, const RunId& run) {
  auto held = store.hold(run);
  if (!held) return held;
  if (auto own = own_folder(*held->state); !own) return own.error();
  return held;
}

Result<HeldRun> ready_for(RunStore& store, const RunId& run, Event event) {
  auto held = hold(store, run);
  if (!held) return held;
  if (auto ready = check_ready(store, *held->state, event); !ready) return ready.error();
  return held;
}

Result<HeldRun> still_valid(RunStore& store, const Permit& permit, Event granted) {
  if (permit.event != granted)
    return Error{ErrorCode::internal, fmt::format("the permit is for {}, not for {}",
                                                  name_of(permit.event), name_of(granted))};
  auto held = hold(store, permit.run);
  if (!held) return held;
  const RunState& state = *held->state;
  if (state.moved > permit.sequence)
    return Error{ErrorCode::conflict,
                 fmt::format("another call changed {} of run {} while this one was working ({})",
                             permit.version.text(), permit.run.text, state.last_result),
                 "Nothing was recorded. Call run_status, then the tool it names."};
  const auto findings = disk::inspect_contract(state);
  if (auto drift = disk::blocking(findings, granted)) return with_way_back(state, findings, *drift);
  return held;
}

Result<Permit> Runs::permit(const RunId& run, Event event, std::optional<VersionId> version) {
  const auto held = hold(*store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  if (event == Event::benchmarked) {
    const auto subject = benchmark_subject(state, version);
    if (!subject) return subject.error();
    if (auto checked = check_disk(*store_, state, event); !checked) return checked.error();
    return make_permit(*store_, state, *subject, event);
  }
  const VersionId open = state.open().id;
  if (version && *version != open)
    return out_of_order(
        state, fmt::format("version: {} is not open; {} is", version->text(), open.text()));
  if (auto ready = check_ready(*store_, state, event); !ready) return ready.error();
  if (event == Event::explored && !state.open().methods)
    return Error{ErrorCode::wrong_stage,
                 fmt::format("{} of run {} has no accepted methods to build branches from",
                             open.text(), run.text),
                 "Call propose_methods first; list_methods shows which methods it accepts."};
  return make_permit(*store_, state, open, event);
}

}  // namespace ratchet
