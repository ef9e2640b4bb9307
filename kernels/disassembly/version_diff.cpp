#include "kernels/disassembly/version_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostMetrics = 24;
constexpr std::size_t kMostOpcodes = 24;
constexpr std::size_t kMostLines = 40;
constexpr std::size_t kMostComparedLines =
    3000;  // the comparison's table has the product of the two line counts

ValuePair pair_of(std::string name, std::optional<double> a, std::optional<double> b) {
  ValuePair pair{std::move(name), a, b, {}};
  if (a && b && *a != 0) pair.change = *b / *a - 1;
  return pair;
}

/// Largest relative change first; numbers that one side lacks last.
void order(std::vector<ValuePair>& pairs, std::size_t most) {
  std::ranges::stable_sort(pairs, std::greater{}, [](const ValuePair& pair) {
    return pair.change ? std::abs(*pair.change) : -1.0;
  });
  pairs.resize(std::min(pairs.size(), most));
}

const KernelCounters* longest(const Profile& profile) {
  const auto duration = [](const KernelCounters& kernel) {
    const auto found = kernel.metrics.find("gpu__time_duration.sum");
    return found == kernel.metrics.end() ? 0.0 : found->second;
  };
  if (profile.kernels.empty()) return nullptr;
  return &*std::ranges::max_element(profile.kernels, {}, duration);
}

std::vector<ValuePair> metric_pairs(const Profile& a, const Profile& b) {
  static const std::map<std::string, double> none;
  const auto* const ka = longest(a);
  const auto* const kb = longest(b);
  const auto& left = ka ? ka->metrics : none;
  const auto& right = kb ? kb->metrics : none;
  std::vector<ValuePair> pairs;
  for (const auto& [name, value] : left)
    if (const auto other = right.find(name); other != right.end() && other->second != value)
      pairs.push_back(pair_of(name, value, other->second));
  order(pairs, kMostMetrics);
  return pairs;
}

std::set<std::string> finding_ids(const Profile& profile) {
  std::set<std::string> ids;
  for (const auto& finding : profile.findings) ids.insert(finding.id);
  return ids;
}

template <class Number>
std::optional<double> number(const std::optional<Number>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::map<std::string, int> opcodes_of(std::span<const CodeFunction> functions) {
  std::map<std::string, int> counts;
  for (const auto& function : functions)
    for (const auto& instruction : function.instructions)
      ++counts[std::string(instruction.opcode.substr(0, instruction.opcode.find('.')))];
  return counts;
}

}  // namespace

std::string line_diff(const std::string& a, const std::string& b, std::size_t most) {
  const auto left = lines_of(a), right = lines_of(b);
  if (left.size() > kMostComparedLines || right.size() > kMostComparedLines)
    return fmt::format("{} and {} lines: too long to compare", left.size(), right.size());
  // Longest common subsequence, from the end, so that it can be read from the start.
  const std::size_t width = right.size() + 1;
  std::vector<unsigned short> common((left.size() + 1) * width, 0);
  for (std::size_t i = left.size(); i-- > 0;)
    for (std::size_t j = right.size(); j-- > 0;)
      common[i * width + j] =
          left[i] == right[j] ? static_cast<unsigned short>(common[(i + 1) * width + j + 1] + 1)
                              : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
  std::string text;
  std::size_t changed = 0;
  const auto add = [&](char mark, std::string_view line) {
    if (changed++ < most) text += fmt::format("{}{}\n", mark, line);
  };
  for (std::size_t i = 0, j = 0; i < left.size() || j < right.size();) {
    if (i < left.size() && j < right.size() && left[i] == right[j]) {
      ++i, ++j;
    } else if (j == right.size() ||
               (i < left.size() && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      add('-', left[i++]);
    } else {
      add('+', right[j++]);
    }
  }
  if (changed > most) text += fmt::format("… {} more changed lines\n", changed - most);
  return text;
}

std::vector<ValuePair> code_diff(std::span<const CodeFunction> a, std::span<const CodeFunction> b) {
  const auto left = opcodes_of(a), right = opcodes_of(b);
  std::set<std::string> names;
  for (const auto& [name, count] : left) names.insert(name);
  for (const auto& [name, count] : right) names.insert(name);
  const auto count = [](const std::map<std::string, int>& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0.0 : found->second;
  };
  std::vector<ValuePair> pairs;
  for (const auto& name : names)
    if (count(left, name) != count(right, name))
      pairs.push_back(pair_of(name, count(left, name), count(right, name)));
  std::ranges::stable_sort(pairs, std::greater{},
                           [](const ValuePair& pair) { return std::abs(*pair.b - *pair.a); });
  pairs.resize(std::min(pairs.size(), kMostOpcodes));
  return pairs;
}

VersionDiff diff_of(const ComparedVersion& a, const ComparedVersion& b) {
  VersionDiff diff;
  const Timing &ta = a.profile->timing, &tb = b.profile->timing;
  diff.timing = {pair_of("median_ns", ta.median.value, tb.median.value),
                 pair_of("ci_low_ns", ta.ci_low.value, tb.ci_low.value),
                 pair_of("ci_high_ns", ta.ci_high.value, tb.ci_high.value)};
  diff.timing_note =
      "Each version was timed in its own session. A verdict needs both in one session: see the "
      "comparisons of their profiles, or call benchmark.";
  diff.bound_a = name_of(a.profile->bound);
  diff.bound_b = name_of(b.profile->bound);
  diff.metrics = metric_pairs(*a.profile, *b.profile);
  const BuildRecord &ba = a.candidate->build, &bb = b.candidate->build;
  diff.resources = {pair_of("registers", number(ba.registers), number(bb.registers)),
                    pair_of("shared_bytes", number(ba.shared_bytes), number(bb.shared_bytes)),
                    pair_of("spill_bytes", number(ba.spill_bytes), number(bb.spill_bytes)),
                    pair_of("stack_bytes", number(ba.stack_bytes), number(bb.stack_bytes))};
  std::erase_if(diff.resources, [](const ValuePair& pair) { return !pair.a && !pair.b; });
  const auto before = finding_ids(*a.profile), after = finding_ids(*b.profile);
  std::ranges::set_difference(before, after, std::back_inserter(diff.findings_gone));
  std::ranges::set_difference(after, before, std::back_inserter(diff.findings_new));
  diff.source_diff = line_diff(a.candidate->source.text, b.candidate->source.text, kMostLines);
  return diff;
}

}  // namespace ratchet
