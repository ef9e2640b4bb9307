#include "server/facts/timing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/core/figures.h"

namespace ratchet {

bool is_doubtful(const Comparison& comparison) {
  const double floor = 1 + comparison.noise_floor;
  return comparison.verdict == Verdict::inconclusive &&
         (comparison.ci_low > floor || comparison.ci_high * floor < 1);
}

std::string verdict_text(const Comparison& comparison) {
  std::string text(name_of(comparison.verdict));
  if (!comparison.flags || comparison.flags->empty()) return text;
  auto flags = *comparison.flags;
  if (comparison.speedup_mean)
    flags.front() += fmt::format(": {}x by trimmed means", three_digits(*comparison.speedup_mean));
  return fmt::format("{} ({})", text, fmt::join(flags, "; "));
}

}  // namespace ratchet
