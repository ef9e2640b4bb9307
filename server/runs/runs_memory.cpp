// Memory and review: reading, masking, partial restarts and acceptance.

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "server/core/hash.h"
#include "server/runs/permits.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/guidance.h"
#include "server/runs/runs.h"
#include "server/runs/views.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostPairs = 200;
constexpr std::string_view kPairExample =
    "A pair is a task in words and the criterion that decides whether it is done: "
    "{\"task\": \"a fifth faster\", \"criterion\": \"speedup >= 1.2\"}.";

/// A field of a record by its dotted name.
Result<Json> field_of(const Json& record, const std::string& name) {
  const Json* at = &record;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const auto end = std::min(name.find('.', begin), name.size());
    const auto key = name.substr(begin, end - begin);
    if (!at->is_object() || !at->contains(key))
      return invalid_argument(
          fmt::format("field: the records have no field \"{}\"", name),
          "Example: performance.latency_us. Call read_memory without field to see every field.");
    at = &(*at)[key];
    begin = end + 1;
  }
  return *at;
}

/// Why a version may not be masked; empty if it may.
std::optional<std::string> protected_because(const RunState& state, VersionId id) {
  if (state.find(id) == nullptr) return "it does not exist";
  if (id.number == 0) return "v0 is what everything is measured against";
  if (id == state.open().id) return "it is the open version";
  if (id == best_version(state)) return "it is the best version";
  return std::nullopt;
}

/// Half of the ids, rounded up, drawn by the seed alone.
std::vector<VersionId> drawn_half(std::vector<VersionId> ids, const std::string& seed) {
  const auto digest = sha256(seed);
  std::seed_seq words(digest.begin(), digest.end());
  std::mt19937_64 random(words);
  // Fisher-Yates written out, because std::shuffle differs between standard libraries.
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random() % i]);
  ids.resize((ids.size() + 1) / 2);
  std::ranges::sort(ids);
  return ids;
}

ReviewAnswer review_answer(const RunState& state) {
  const auto promotion = promotion_of(state);
  return {view_of(state),    review_pairs(state), promotion.promotable,
          promotion.geomean, promotion.lowest,    promotion.why};
}

Result<MaskAnswer> record_mask(RunStore& store, const RunState& state, const MaskFact& fact) {
  const auto after =
      store.commit(state, {.version = state.open().id,
                           .kind = kind::kMask,
                           .fact = encode(fact),
                           .render = [](const RunState& now, const std::string& time) {
                             std::vector<render::Rendered> files;
                             // All of them, because a record also refers to the parent.
                             for (const auto& version : now.versions)
                               if (version.is_closed())
                                 files.push_back(render::memory({now, version, time}));
                             return files;
                           }});
  if (!after) return after.error();
  const auto& masked = (*after)->masked;
  return MaskAnswer{view_of(**after), {masked.begin(), masked.end()}, fact.seed};
}

/// A reviewer names versions or artifacts of the run.
Status check_looked_at(const RunState& state, const std::vector<std::string>& ids) {
  if (ids.empty())
    return invalid_argument(
        "looked_at: it is empty, but a verdict must say what it is based on",
        "List the versions or artifacts that you looked at, such as v2 or v1/correctness.md.");
  for (const auto& id : ids) {
    const bool version = std::ranges::any_of(
        state.versions, [&](const VersionState& one) { return one.id.text() == id; });
    if (!version && !state.artifacts.contains(id))
      return invalid_argument(
          fmt::format("looked_at: the run has no version or artifact \"{}\"", id),
          "Use names such as v1 or v1/correctness.md.");
  }
  return {};
}

}  // namespace

Result<MemoryAnswer> Runs::read_memory(const RunId& run, std::optional<VersionId> version,
                                       const std::optional<std::string>& field) {
  const auto loaded = store_->load(run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  if (version && state.find(*version) == nullptr) return no_version(run, *version);
  if (version && state.masked.contains(*version)) return masked_version(*version);
  MemoryAnswer answer{view_of(state), {}};
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

Result<MaskAnswer> Runs::mask(const RunId& run, const std::vector<VersionId>& versions, bool mask,
                              const std::string& reason) {
  if (versions.empty())
    return invalid_argument("versions: it is empty; name at least one version", "");
  if (markdown::one_line(reason).empty()) return invalid_argument("reason: must not be empty");
  const auto held = hold(*store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  for (const auto& id : versions) {
    const auto why = mask ? protected_because(state, id) : std::nullopt;
    if (why || state.find(id) == nullptr)
      return invalid_argument(fmt::format("versions: {} cannot be masked: {}", id.text(),
                                          why.value_or("it does not exist")),
                              "run_status lists the versions.");
  }
  return record_mask(*store_, state, {versions, mask, reason, std::nullopt});
}

Result<MaskAnswer> Runs::restart_partial(const RunId& run) {
  const auto held = hold(*store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  std::vector<VersionId> may;
  for (const auto& version : state.versions)
    if (!protected_because(state, version.id) && !state.masked.contains(version.id))
      may.push_back(version.id);
  if (may.empty())
    return out_of_order(state, fmt::format("run {} has no version to mask: v0, the best and the "
                                           "open version always stay visible",
                                           run.text));
  const std::string seed = hex(sha256(random_bytes(32))).substr(0, 16);
  return record_mask(*store_, state,
                     {drawn_half(std::move(may), seed), true, "partial restart", seed});
}

Result<ReviewAnswer> Runs::define_acceptance(const RunId& run,
                                             const std::vector<AcceptancePair>& pairs) {
  const auto held = hold(*store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  if (pairs.empty())
    return invalid_argument("pairs: it is empty; name at least one pair",
                            std::string(kPairExample));
  if (state.acceptance.size() + pairs.size() > kMostPairs)
    return invalid_argument(
        fmt::format("pairs: a run takes at most {} acceptance pairs; it has {}, and {} more were "
                    "given",
                    kMostPairs, state.acceptance.size(), pairs.size()),
        "Give fewer; review with run alone lists those that it has.");
  for (const auto& pair : pairs) {
    if (markdown::one_line(pair.task).empty()) return invalid_argument("task: must not be empty");
    if (auto checked = check_criterion(state, pair.criterion); !checked) return checked.error();
  }
  const auto after = store_->commit(state, {.version = state.open().id,
                                            .kind = kind::kAcceptance,
                                            .fact = encode(AcceptanceFact{pairs})});
  if (!after) return after.error();
  return review_answer(**after);
}

Result<ReviewAnswer> Runs::review(const RunId& run, const ReviewRequest& request) {
  if (!request.pair && !request.verdict) {
    const auto loaded = store_->load(run);
    if (!loaded) return loaded.error();
    return review_answer(*loaded->state);
  }
  if (!request.verdict)
    return invalid_argument(fmt::format("verdict: is missing for pair {}", *request.pair),
                            "Give met or open; with run alone, review lists the pairs.");
  if (!request.pair)
    return invalid_argument("pair: the verdict does not say which pair it is about",
                            "Give its number; with run alone, review lists the pairs.");
  const auto held = hold(*store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  const auto& pairs = state.acceptance;
  const auto number = static_cast<std::size_t>(*request.pair);
  if (pairs.empty())
    return invalid_argument("pair: the run has no acceptance pairs yet",
                            fmt::format("define_acceptance adds them. {}", kPairExample));
  if (number > pairs.size())
    return invalid_argument(
        fmt::format("pair: the run has {} acceptance pairs, and there is no number {}",
                    pairs.size(), number),
        "Call review with run alone to list them.");
  if (pairs[number - 1].criterion != "review")
    return invalid_argument(fmt::format("pair: number {} is decided by the server from its "
                                        "measurements ({}), not by a reviewer",
                                        number, pairs[number - 1].criterion),
                            "Give a verdict only for pairs whose criterion is \"review\".");
  if (auto looked = check_looked_at(state, request.looked_at); !looked) return looked.error();
  const ReviewFact fact{*request.pair, *request.verdict, request.looked_at,
                        request.note.value_or("")};
  const auto after = store_->commit(
      state, {.version = state.open().id, .kind = kind::kReview, .fact = encode(fact)});
  if (!after) return after.error();
  return review_answer(**after);
}

}  // namespace ratchet
