// Memory and review: what is read back, withheld, drawn and judged.

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "server/core/hash.h"
#include "server/runs/ledger/disk.h"
#include "server/runs/render/render.h"
#include "server/runs/runs_impl.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostPairs = 200;

/// One field of a record by its dotted name.
Result<Json> field_of(const Json& record, const std::string& name) {
  const Json* at = &record;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const auto end = std::min(name.find('.', begin), name.size());
    const auto key = name.substr(begin, end - begin);
    if (!at->is_object() || !at->contains(key))
      return invalid_argument(fmt::format("field: a record has no \"{}\"", name),
                              "Such as performance.latency_us; read one without field to see all.");
    at = &(*at)[key];
    begin = end + 1;
  }
  return *at;
}

std::vector<VersionId> all_masked(const RunState& state) {
  return {state.masked.begin(), state.masked.end()};
}

/// Why a version may not be masked; empty: it may.
std::optional<std::string> protected_because(const RunState& state, VersionId id) {
  if (state.find(id) == nullptr) return "it does not exist";
  if (id.number == 0) return "v0 is what everything is measured against";
  if (id == state.open().id) return "it is the open version";
  if (id == best_version(state)) return "it is the best version";
  return std::nullopt;
}

/// Half of the ids, rounded up, in an order that follows from the seed alone.
std::vector<VersionId> drawn_half(std::vector<VersionId> ids, const std::string& seed) {
  const auto digest = sha256(seed);
  std::seed_seq words(digest.begin(), digest.end());
  std::mt19937_64 random(words);
  // Fisher and Yates by hand: the library's shuffle may differ from one to the next.
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random() % i]);
  ids.resize((ids.size() + 1) / 2);
  std::ranges::sort(ids);
  return ids;
}

ReviewAnswer review_answer(const RunState& state) {
  ReviewAnswer answer;
  static_cast<RunView&>(answer) = view_of(state);
  answer.pairs = review_pairs(state);
  const auto promotion = promotion_of(state);
  answer.promotable = promotion.promotable;
  answer.geomean = promotion.geomean;
  answer.lowest = promotion.lowest;
  answer.promotion = promotion.why;
  return answer;
}

/// What a reviewer may say was looked at: versions and artifacts of the run.
Status check_looked_at(const RunState& state, const std::vector<std::string>& ids) {
  if (ids.empty())
    return invalid_argument("looked_at: a verdict names what was looked at",
                            "Versions or artifacts.");
  for (const auto& id : ids) {
    const bool version = std::ranges::any_of(
        state.versions, [&](const VersionState& one) { return one.id.text() == id; });
    if (!version && !state.artifacts.contains(id))
      return invalid_argument(
          fmt::format("looked_at: the run has no version or artifact \"{}\"", id),
          "Such as v1 or v1/correctness.md.");
  }
  return {};
}

}  // namespace

Error masked_version(VersionId id) {
  return {ErrorCode::not_permitted, fmt::format("{} is masked", id.text()),
          "mask_memory with mask false gives it back."};
}

Result<MemoryAnswer> RunsImpl::read_memory(const RunId& run, std::optional<VersionId> version,
                                           const std::optional<std::string>& field) {
  const auto loaded = store_->load(run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  if (version && state.find(*version) == nullptr)
    return Error{ErrorCode::not_found, fmt::format("run {} has no {}", run.text, version->text()),
                 "run_status lists the versions."};
  if (version && state.masked.contains(*version)) return masked_version(*version);
  MemoryAnswer answer;
  static_cast<RunView&>(answer) = view_of(state);
  for (const auto& one : state.versions) {
    if (version && one.id != *version) continue;
    MemoryRecord record{one.id, state.masked.contains(one.id), Json::object()};
    if (!record.masked) {
      record.record = render::memory_record(state, one);
      if (field) {
        auto part = field_of(record.record, *field);
        if (!part) return part.error();
        record.record = *std::move(part);
      }
    }
    answer.records.push_back(std::move(record));
  }
  return answer;
}

Result<MaskAnswer> RunsImpl::mask(const RunId& run, const std::vector<VersionId>& versions,
                                  bool mask, const std::string& reason) {
  if (versions.empty()) return invalid_argument("versions: must name at least one", "");
  if (markdown::one_line(reason).empty()) return invalid_argument("reason: must say something", "");
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto state = store_->load_intact(run);
  if (!state) return state.error();
  for (const auto& id : versions) {
    const auto why = mask ? protected_because(**state, id) : std::nullopt;
    if (why || (*state)->find(id) == nullptr)
      return invalid_argument(fmt::format("versions: {} cannot be masked: {}", id.text(),
                                          why.value_or("it does not exist")),
                              "run_status lists the versions.");
  }
  return record_mask(**state, {versions, mask, reason, std::nullopt});
}

Result<MaskAnswer> RunsImpl::restart_partial(const RunId& run) {
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto state = store_->load_intact(run);
  if (!state) return state.error();
  std::vector<VersionId> may;
  for (const auto& version : (*state)->versions)
    if (!protected_because(**state, version.id) && !(*state)->masked.contains(version.id))
      may.push_back(version.id);
  if (may.empty())
    return Error{ErrorCode::wrong_stage,
                 "there is nothing to mask: v0, the best and the open version are kept",
                 "Go on with run_status."};
  const std::string seed = hex(sha256(random_bytes(32))).substr(0, 16);
  return record_mask(**state, {drawn_half(std::move(may), seed), true, "partial restart", seed});
}

Result<MaskAnswer> RunsImpl::record_mask(const RunState& state, const MaskFact& fact) {
  Change change{state.open().id, kind::kMask, std::nullopt, encode(fact), {}, {}, {}};
  change.render = [](const RunState& after, const std::string& time) {
    std::vector<render::Rendered> files;
    // All of them: a version's record also speaks of its parent.
    for (const auto& version : after.versions)
      if (version.is_closed()) files.push_back(render::memory({after, version, time}));
    return files;
  };
  const auto after = store_->commit(state, change);
  if (!after) return after.error();
  MaskAnswer answer;
  static_cast<RunView&>(answer) = view_of(**after);
  answer.masked = all_masked(**after);
  answer.seed = fact.seed;
  return answer;
}

Result<ReviewAnswer> RunsImpl::define_acceptance(const RunId& run,
                                                 const std::vector<AcceptancePair>& pairs) {
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto state = store_->load_intact(run);
  if (!state) return state.error();
  if (pairs.empty() || (*state)->acceptance.size() + pairs.size() > kMostPairs)
    return invalid_argument(fmt::format("pairs: 1 to {} in all, got {}", kMostPairs, pairs.size()),
                            "");
  for (const auto& pair : pairs) {
    if (markdown::one_line(pair.task).empty())
      return invalid_argument("task: must say something", "");
    if (auto checked = check_criterion(**state, pair.criterion); !checked) return checked.error();
  }
  const Change change{(*state)->open().id,
                      kind::kAcceptance,
                      std::nullopt,
                      encode(AcceptanceFact{pairs}),
                      {},
                      {},
                      {}};
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return review_answer(**after);
}

Result<ReviewAnswer> RunsImpl::review(const RunId& run, const ReviewRequest& request) {
  if (!request.pair && !request.verdict) {
    const auto loaded = store_->load(run);
    if (!loaded) return loaded.error();
    return review_answer(*loaded->state);
  }
  if (!request.pair || !request.verdict)
    return invalid_argument("pair and verdict: give both, or neither to look", "");
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto state = store_->load_intact(run);
  if (!state) return state.error();
  const auto& pairs = (*state)->acceptance;
  const auto number = static_cast<std::size_t>(*request.pair);
  if (number > pairs.size())
    return invalid_argument(fmt::format("pair: there are {}, got {}", pairs.size(), number),
                            "review without arguments lists them.");
  if (pairs[number - 1].criterion != "review")
    return invalid_argument(
        fmt::format("pair: {} is decided by the ledger ({})", number, pairs[number - 1].criterion),
        "Only pairs whose criterion is review take a verdict.");
  if (auto looked = check_looked_at(**state, request.looked_at); !looked) return looked.error();
  const ReviewFact fact{*request.pair, *request.verdict, request.looked_at,
                        request.note.value_or("")};
  const Change change{(*state)->open().id, kind::kReview, std::nullopt, encode(fact), {}, {}, {}};
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return review_answer(**after);
}

}  // namespace ratchet
