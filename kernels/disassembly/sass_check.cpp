#include "kernels/disassembly/sass_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace ratchet {
namespace {

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(mark), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// "SB0, 0x1" → 1; operands that do not end in a number → 0.
int last_number(std::string_view operands) {
  const auto at = operands.find_last_of(" ,");
  auto word = at == std::string_view::npos ? operands : operands.substr(at + 1);
  if (!word.starts_with("0x")) return 0;
  word.remove_prefix(2);
  int value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value, 16);
  return value;
}

bool has(const std::vector<std::string>& tokens, std::string_view token) {
  return std::find(tokens.begin() + 1, tokens.end(), token) != tokens.end();
}

/// "LDG.128!CONSTANT" against [LDG, E, 128].
bool fits(const std::vector<std::string>& tokens, std::string_view pattern) {
  const auto forbidden = split(pattern, '!');
  const auto wanted = split(forbidden.front(), '.');
  if (tokens.front() != wanted.front()) return false;
  for (std::size_t i = 1; i < wanted.size(); ++i)
    if (!has(tokens, wanted[i])) return false;
  for (std::size_t i = 1; i < forbidden.size(); ++i)
    if (has(tokens, forbidden[i])) return false;
  return true;
}

bool needs_parent(Relation relation) {
  return relation == Relation::falls || relation == Relation::steady ||
         relation == Relation::multiplies;
}

/// The counts of one condition in candidate and parent, and the result.
struct Seen {
  const CodeCondition* condition = nullptr;
  int own = 0;
  std::optional<int> parents;

  [[nodiscard]] bool holds() const {
    const int before = parents.value_or(0);
    switch (condition->relation) {
      case Relation::rises:
        return own >= condition->least && own > before;
      case Relation::appears:
        return own >= condition->least && before == 0;
      case Relation::multiplies:
        return before > 0 && own >= condition->least * before;
      case Relation::falls:
        return own < before;
      case Relation::steady:
        return own <= before;
      case Relation::present:
        return own >= condition->least;
      case Relation::none:
        return own == 0;
    }
    return false;
  }

  [[nodiscard]] bool differs() const { return !parents || own != *parents; }

  [[nodiscard]] std::string text() const {
    std::string text =
        fmt::format("{}{}: {}", condition->opcodes, condition->in_loop ? " in loops" : "", own);
    if (condition->least_operand > 0)
      text += fmt::format(" (operand {}+)", condition->least_operand);
    if (parents) text += fmt::format(" (parent {})", *parents);
    return text;
  }
};

std::vector<Seen> seen_of(const CodeWay& way, const OpcodeCounts& candidate,
                          const OpcodeCounts* parent) {
  std::vector<Seen> seen;
  for (const auto& condition : way) {
    if (condition.opcodes.empty()) break;
    seen.push_back({&condition, candidate.count(condition),
                    parent ? std::optional(parent->count(condition)) : std::nullopt});
  }
  return seen;
}

bool holds(const std::vector<Seen>& way, bool has_parent) {
  const bool all = std::ranges::all_of(way, [&](const Seen& one) {
    return one.holds() && (has_parent || !needs_parent(one.condition->relation));
  });
  return all && std::ranges::any_of(way, &Seen::differs);
}

void list(const std::vector<Seen>& way, MethodVerdict& verdict) {
  for (const auto& one : way) (one.holds() ? verdict.found : verdict.missing).push_back(one.text());
}

}  // namespace

OpcodeCounts::OpcodeCounts(std::span<const CodeFunction> functions) {
  std::map<std::pair<std::string_view, int>, std::pair<int, int>> counts;
  for (const auto& function : functions)
    for (const auto& instruction : function.instructions) {
      auto& [all, in_loops] = counts[{instruction.opcode, last_number(instruction.operands)}];
      ++all;
      in_loops += instruction.loop_depth > 0 ? 1 : 0;
    }
  for (const auto& [key, value] : counts) {
    Entry entry{{}, key.second, value.first, value.second};
    for (const auto token : split(key.first, '.')) entry.tokens.emplace_back(token);
    entries_.push_back(std::move(entry));
  }
}

int OpcodeCounts::count(const CodeCondition& condition) const {
  const auto patterns = split(condition.opcodes, '|');
  int sum = 0;
  for (const auto& entry : entries_) {
    if (entry.operand < condition.least_operand) continue;
    if (std::ranges::any_of(patterns, [&](auto pattern) { return fits(entry.tokens, pattern); }))
      sum += condition.in_loop ? entry.in_loops : entry.all;
  }
  return sum;
}

int OpcodeCounts::count(std::string_view opcodes) const {
  return count(CodeCondition{.opcodes = opcodes});
}

MethodVerdict verdict_of(const MethodSignature& signature, const OpcodeCounts& candidate,
                         const OpcodeCounts* parent) {
  MethodVerdict verdict{.id = std::string(signature.id)};
  std::vector<std::vector<Seen>> ways;
  for (const auto& way : signature.ways)
    if (auto seen = seen_of(way, candidate, parent); !seen.empty()) ways.push_back(std::move(seen));
  if (ways.empty()) {
    verdict.note = fmt::format("no opcode shows this method; look at {}", signature.evidence);
    return verdict;
  }
  for (const auto& way : ways) {
    if (!holds(way, parent != nullptr)) continue;
    verdict.verdict = CodeVerdict::verified;
    list(way, verdict);
    verdict.note = parent ? "the candidate's code shows it, more than its parent's"
                          : "the code shows it; there is no parent to compare with";
    return verdict;
  }
  for (const auto& way : ways) list(way, verdict);
  if (!signature.essential.empty() && candidate.count(signature.essential) == 0) {
    verdict.verdict = CodeVerdict::absent;
    verdict.note = fmt::format("none of {}", signature.essential);
    return verdict;
  }
  verdict.note =
      parent ? fmt::format("the code shows no more of it than the parent's; look at {}",
                           signature.evidence)
             : fmt::format("needs a parent to compare with; look at {}", signature.evidence);
  return verdict;
}

}  // namespace ratchet
