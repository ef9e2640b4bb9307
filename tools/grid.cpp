#include "tools/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr const char* kForm = "Write one entry a name: \"TILE=8,16,32\".";

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == ',')
      parts.emplace_back();
    else if (c != ' ' || !parts.back().empty())
      parts.back() += c;
  return parts;
}

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Where `name` next stands as a whole word; npos if it does not.
std::size_t find_word(std::string_view text, std::string_view name, std::size_t from = 0) {
  for (auto at = text.find(name, from); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end])))
      return at;
  }
  return std::string_view::npos;
}

std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// What follows the word, and blanks, that the text begins with; empty if it does not.
std::optional<std::string_view> after(std::string_view text, std::string_view word) {
  text = without_blanks(text);
  if (!text.starts_with(word)) return std::nullopt;
  const auto rest = text.substr(word.size());
  if (!rest.starts_with(' ') && !rest.starts_with('\t')) return std::nullopt;
  return without_blanks(rest);
}

/// What an assignment gives; `text` begins behind the name.
std::optional<std::string_view> assigned(std::string_view text) {
  text = without_blanks(text);
  if (!text.starts_with('=') || text.starts_with("==")) return std::nullopt;
  return without_blanks(text.substr(1));
}

/// The value in a line of Python, `NAME = value` or `NAME: type = value`.
std::optional<std::string_view> value_in_python(std::string_view line, std::string_view name) {
  if (find_word(line, name) != 0) return std::nullopt;
  auto rest = without_blanks(line.substr(name.size()));
  if (rest.starts_with(':')) rest = rest.substr(std::min(rest.find('='), rest.size()));
  const auto value = assigned(rest);
  if (!value) return std::nullopt;
  return trimmed(value->substr(0, value->find('#')));
}

/// The values in a line of C++: of a `#define`, or of a declaration with const or constexpr.
std::vector<std::string_view> values_in_cpp(std::string_view line, std::string_view name) {
  std::vector<std::string_view> values;
  if (const auto start = without_blanks(line); start.starts_with('#')) {
    auto rest = after(start.substr(1), "define");
    if (rest) rest = after(*rest, name);
    if (rest) values.push_back(trimmed(*rest));
    return values;
  }
  for (auto at = find_word(line, name); at != std::string_view::npos;
       at = find_word(line, name, at + 1)) {
    const auto value = assigned(line.substr(at + name.size()));
    if (!value) continue;
    auto declared = line.substr(0, at);
    const auto begin = declared.find_last_of(";{}=") + 1;
    if (begin > 0 && line[begin - 1] == '=') continue;
    declared = declared.substr(begin);
    if (find_word(declared, "const") != std::string_view::npos ||
        find_word(declared, "constexpr") != std::string_view::npos)
      values.push_back(value->substr(0, value->find(';')));
  }
  return values;
}

Result<std::string> with_value(const std::string& source, const std::string& name,
                               const std::string& value, bool python) {
  std::vector<std::string_view> found;
  for (const auto line : lines_of(source)) {
    if (!python)
      std::ranges::copy(values_in_cpp(line, name), std::back_inserter(found));
    else if (const auto one = value_in_python(line, name))
      found.push_back(*one);
  }
  if (found.size() > 1)
    return invalid_argument(fmt::format("grid: the source sets {} {} times", name, found.size()),
                            "Set it once, so that one value has one meaning.");
  if (found.size() == 1) {
    const auto at = static_cast<std::size_t>(found.front().data() - source.data());
    return source.substr(0, at) + value + source.substr(at + found.front().size());
  }
  if (python)
    return invalid_argument(
        fmt::format("grid: {} is not a constant of the module", name),
        fmt::format("Add a line \"{} = {}\" at the top level and use it.", name, value));
  if (find_word(source, name) == std::string_view::npos)
    return invalid_argument(fmt::format("grid: the source does not mention {}", name),
                            "Name a macro or constant of the kernel.");
  return fmt::format("#define {} {}\n#line 1\n{}", name, value, source);
}

/// Splits "NAME=8,16" at the first `=`; empty if that is not its form.
std::optional<std::pair<std::string, std::string>> parts_of(const std::string& entry) {
  const auto equal = entry.find('=');
  if (equal == std::string_view::npos || equal == 0 || equal + 1 == entry.size())
    return std::nullopt;
  const auto name = entry.substr(0, equal);
  const auto values = entry.substr(equal + 1);
  const auto in_value = [](char c) {
    return in_name(c) || std::string_view(".+*/()<>:, -").find(c) != std::string_view::npos;
  };
  if (std::isdigit(static_cast<unsigned char>(name[0])) != 0 ||
      !std::ranges::all_of(name, in_name) || !std::ranges::all_of(values, in_value))
    return std::nullopt;
  return std::pair{name, values};
}

}  // namespace

Result<Grid> grid_of(const std::vector<std::string>& entries) {
  Grid grid;
  std::size_t points = 1;
  for (const auto& entry : entries) {
    const auto parts = parts_of(entry);
    if (!parts)
      return invalid_argument(fmt::format("grid: \"{}\" is not NAME=value,value", entry), kForm);
    auto values = split(parts->second);
    for (const auto& value : values)
      if (value.empty())
        return invalid_argument(fmt::format("grid: \"{}\" has an empty value", entry), kForm);
    points *= values.size();
    if (points > kMostPoints)
      return invalid_argument(
          fmt::format("grid: {} combinations and more; the most is {}", points, kMostPoints),
          "Sweep fewer names or values at once; the best of one sweep is the base of the next.");
    if (!grid.emplace(parts->first, std::move(values)).second)
      return invalid_argument(fmt::format("grid: {} is given twice", parts->first), kForm);
  }
  return grid;
}

Result<std::vector<GridPoint>> points_of(const Grid& grid, const std::string& source, bool python) {
  std::vector<GridPoint> points{{"", source}};
  for (const auto& [name, values] : grid) {
    std::vector<GridPoint> next;
    for (const auto& point : points)
      for (const auto& value : values) {
        auto text = with_value(point.text, name, value, python);
        if (!text) return text.error();
        next.push_back(
            {fmt::format("{}{}{}={}", point.note, point.note.empty() ? "" : " ", name, value),
             *std::move(text)});
      }
    points = std::move(next);
  }
  return points;
}

}  // namespace ratchet
