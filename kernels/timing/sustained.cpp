#include "kernels/timing/sustained.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "server/core/figures.h"

namespace ratchet {
namespace {

bool ran(const SessionRecord& session, std::size_t contestant) {
  return contestant < session.contestants.size() &&
         session.contestants[contestant].reasons.empty() &&
         !session.contestants[contestant].blocks.empty();
}

bool opposite(Verdict a, Verdict b) {
  return (a == Verdict::faster && b == Verdict::slower) ||
         (a == Verdict::slower && b == Verdict::faster);
}

std::string with_flags(const Timing& timing) {
  return time_text(timing.median.value) +
         (timing.flags.empty() ? "" : fmt::format(" ({})", fmt::join(timing.flags, ", ")));
}

}  // namespace

SessionPlan sustained_plan(SessionPlan cold) {
  cold.cache_mode = CacheMode::hot;
  cold.samples.reset();
  cold.time_limit = std::min(cold.time_limit, std::chrono::milliseconds(1000));
  return cold;
}

std::vector<std::string> sustained_notes(const SessionRecord& cold, const SessionRecord& sustained,
                                         const SessionPlan& plan, const Dims& dims) {
  if (!ran(cold, 0)) return {};
  const auto& candidate = sustained.contestants.front();
  const auto begin = fmt::format("{}: sustained (one call after the other, nothing flushed): {} ",
                                 dims_text(dims), candidate.name);
  if (!candidate.reasons.empty()) return {begin + "failed: " + candidate.reasons.front().text()};
  const auto own = timing_of(sustained, 0, plan);
  if (!own) return {};
  std::string line = begin + with_flags(*own);
  std::vector<std::string> turned;
  for (std::size_t i = 1; i < sustained.contestants.size(); ++i) {
    if (!ran(cold, i)) continue;
    const auto& name = sustained.contestants[i].name;
    if (const auto& reasons = sustained.contestants[i].reasons; !reasons.empty()) {
      line += fmt::format("; {} failed: {}", name, reasons.front().text());
      continue;
    }
    const auto timing = timing_of(sustained, i, plan);
    const auto now = comparison_of(sustained, i);
    const auto before = comparison_of(cold, i);
    if (!timing || !now || !before) continue;
    line += fmt::format("; {} {}, speedup {}x ({} … {}), {}", name, with_flags(*timing),
                        three_digits(now->speedup), three_digits(now->ci_low),
                        three_digits(now->ci_high), name_of(now->verdict));
    if (opposite(before->verdict, now->verdict))
      turned.push_back(fmt::format(
          "{}: against {} the candidate is {} with cold caches ({}x) and {} when sustained ({}x): "
          "which of the two counts depends on how the program calls it",
          dims_text(dims), name, name_of(before->verdict), three_digits(before->speedup),
          name_of(now->verdict), three_digits(now->speedup)));
  }
  turned.insert(turned.begin(), std::move(line));
  return turned;
}

}  // namespace ratchet
