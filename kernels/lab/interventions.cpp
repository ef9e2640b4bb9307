#include "kernels/lab/interventions.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/contract/layout.h"
#include "kernels/judge/trial_plan.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {
namespace {

constexpr int kSamples = 40;  // twenty rounds of each: intervals of a few per cent
constexpr std::size_t kMostDims = 4;
// Under these values indices ascend and permutations are the identity; see generate.h.
constexpr const char* kInOrder = "small";

/// Whether an input's elements say where others are read or written.
bool is_index(const TensorSpec& tensor) {
  if (tensor.role == Role::out) return false;
  return tensor.init == "permutation" || tensor.init.starts_with("indices") ||
         (tensor.init == "normal" && !is_floating(tensor.dtype));
}

}  // namespace

std::vector<Interventions::Change> Interventions::changes(const DeviceInfo& device) const {
  const Dims& dims = contract_.cases.front().dims;
  std::vector<Change> changes;
  // What does not fit into the cache is as cold in the next call as in the first.
  constexpr std::int64_t kParts = 2;
  const auto layout = layout_of(contract_, dims);
  if (layout && kParts * layout->bytes <= device.l2_bytes)
    changes.push_back({"warm caches", {.dims = dims, .most_places = 1}, CacheMode::hot});
  if (std::ranges::any_of(contract_.tensors, is_index))
    changes.push_back({"indices in order", {.dims = dims, .values = kInOrder}});
  for (const auto& [name, value] : dims) {
    if (value < 2 || changes.size() > kMostDims) continue;
    Dims half = dims;
    half[name] = value / 2;
    changes.push_back({name + " halved", {.dims = half}});
  }
  return changes;
}

Result<Intervention> Interventions::time(const Change& change, CandidateProcess& plain,
                                         CandidateProcess& other, const SessionPlan& plan) {
  const auto secret = fmt::format("{} {}", secret_, change.what);
  auto as_it_is = source_.arenas({.dims = contract_.cases.front().dims}, secret, call_);
  if (!as_it_is) return as_it_is.error();
  ArenaPlan room = change.arenas;
  room.first_room = 1;
  auto changed = source_.arenas(room, secret + " changed", call_);
  if (!changed) return changed.error();
  auto both = split_arenas(other, **changed, **as_it_is);
  auto session =
      TimingSession(*both, plan)
          .run({{"candidate", &plain, {}}, {change.what, &other, change.cache_mode}}, call_);
  if (!session) return session.error();
  for (const auto& one : session->contestants)
    if (!one.reasons.empty()) return unavailable(one.reasons.front().text());
  auto compared = comparison_of(*session, 1);
  if (!compared) return compared.error();
  return Intervention{change.what, 1 - compared->speedup, 1 - compared->ci_high,
                      1 - compared->ci_low};
}

Result<std::vector<Intervention>> Interventions::measure(const Candidate& candidate,
                                                         CandidateProcess& process,
                                                         const DeviceInfo& device,
                                                         const SessionPlan& plan) {
  auto other =
      lab_.start(contract_, candidate, CandidateProcess::Use::time, TimedArenas::kMost + 1, call_);
  if (!other) return other.error();
  SessionPlan brief = plan;
  brief.samples = kSamples;
  std::vector<Intervention> found;
  for (const auto& change : changes(device)) {
    call_.progress(0, std::nullopt, "timing with " + change.what);
    auto one = time(change, process, *other, brief);
    if (call_.canceled()) return one ? Result(found) : one.error();
    if (one) found.push_back(*std::move(one));
    if (process.fault()) break;
    if (!other->fault()) continue;
    other = lab_.start(contract_, candidate, CandidateProcess::Use::time, TimedArenas::kMost + 1,
                       call_);
    if (!other) return other.error();
  }
  return found;
}

}  // namespace ratchet
