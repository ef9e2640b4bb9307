#include "server/runs/rules/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "server/core/text.h"

namespace ratchet {
namespace {

// Longer ones first: ">=" also begins with ">".
constexpr std::array<std::string_view, 5> kOperators{">=", "<=", "==", ">", "<"};

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// ASCII operators only.
std::string plain(std::string_view prose) {
  std::string text(prose);
  std::erase(text, '`');
  for (const auto& [sign, op] : {std::pair{"≥", ">="}, std::pair{"≤", "<="}})
    for (auto at = text.find(sign); at != std::string::npos; at = text.find(sign))
      text.replace(at, std::string_view(sign).size(), op);
  return text;
}

std::string name_before(std::string_view text, std::size_t op) {
  std::size_t end = op;
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && is_name_part(text[begin - 1])) --begin;
  const auto name = trimmed(text.substr(begin, end - begin), ".");
  return std::string(!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0
                         ? std::string_view()
                         : name);
}

/// The factor to the unit of `name`; empty if the word after a number is no such unit.
std::optional<double> factor_of(const std::string& name, std::string_view unit) {
  if (unit.empty() || (unit == "x" && name.starts_with("speedup"))) return 1;
  if (!name.ends_with("_ns")) return std::nullopt;
  for (const auto& [known, factor] :
       {std::pair{"ns", 1.0}, std::pair{"us", 1e3}, std::pair{"µs", 1e3}, std::pair{"ms", 1e6}})
    if (unit == known) return factor;
  return std::nullopt;
}

/// The unit that directly follows a number, or after a blank a unit of time or a percent sign.
std::string_view unit_after(std::string_view rest) {
  const bool apart = rest.starts_with(' ');
  const auto word = trimmed(rest.substr(0, std::min(rest.find_first_of(",;()\n"), rest.size())));
  const auto unit = word.substr(0, word.find(' '));
  if (!apart) return trimmed(unit, ".");
  for (const std::string_view known : {"ns", "us", "µs", "ms", "s", "%", "x", "×"})
    if (trimmed(unit, ".") == known) return known;
  return {};
}

/// The number, with its unit applied, that `rest` begins with.
std::optional<double> bound_of(const std::string& name, std::string_view rest) {
  const auto text = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return std::nullopt;
  auto unit = unit_after(text.substr(static_cast<std::size_t>(end - text.data())));
  if (unit == "×") unit = "x";
  const auto factor = factor_of(name, unit);
  return factor ? std::optional(value * *factor) : std::nullopt;
}

/// Otherwise it is no condition but prose, such as "a → b" written with an arrow of two characters.
bool number_follows(std::string_view rest) {
  const auto text = trimmed(rest);
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text.front())) != 0 ||
                           text.front() == '-' || text.front() == '.');
}

}  // namespace

bool Condition::holds(double value) const {
  if (op == ">=") return value >= bound;
  if (op == "<=") return value <= bound;
  if (op == ">") return value > bound;
  if (op == "<") return value < bound;
  return value == bound;
}

std::string Condition::text() const {
  return fmt::format("{} {} {:g}", name, op, bound);
}

std::optional<Condition> condition_of(const std::string& name, const std::string& op,
                                      const std::string& bound) {
  if (std::ranges::find(kOperators, op) == kOperators.end()) return std::nullopt;
  Condition condition{name, op, 0};
  const char* const end = bound.data() + bound.size();
  const auto [stop, code] = std::from_chars(bound.data(), end, condition.bound);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return condition;
}

Conditions conditions_within(std::string_view prose) {
  Conditions found;
  const std::string text = plain(prose);
  for (std::size_t at = text.find_first_of("<>="); at != std::string::npos;
       at = text.find_first_of("<>=", at)) {
    const auto rest = std::string_view(text).substr(at);
    const auto op =
        std::ranges::find_if(kOperators, [&](auto one) { return rest.starts_with(one); });
    if (op == kOperators.end()) {
      ++at;
      continue;
    }
    const auto name = name_before(text, at);
    const auto bound = bound_of(name, rest.substr(op->size()));
    if (!name.empty() && bound)
      found.all.push_back({name, std::string(*op), *bound});
    else if (number_follows(rest.substr(op->size())))
      found.unreadable.push_back(fmt::format(
          "{} {}", name,
          trimmed(rest.substr(
              0, std::min({rest.find_first_of(",;\n"), rest.size(), std::size_t{24}})))));
    at += op->size();
  }
  return found;
}

}  // namespace ratchet
