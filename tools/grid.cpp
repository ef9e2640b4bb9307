#include "tools/grid.h"

#include <fmt/format.h>

#include <iterator>
#include <regex>

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

/// Where the source sets a name: what stands before the value, the value, what stands after.
std::vector<std::regex> settings_of(const std::string& name, bool python) {
  if (python) return {std::regex("(^|\n)(" + name + "[ \t]*(?::[^=\n]*)?=[ \t]*)([^\n#]*)")};
  return {std::regex("(^|\n)([ \t]*#[ \t]*define[ \t]+" + name + "[ \t]+)([^\n]*)"),
          std::regex("(^|[\n;{])([^\n;{}=]*\\bconst(?:expr)?\\b[^\n;{}=]*\\b" + name +
                     "[ \t]*=[ \t]*)([^;\n]*)")};
}

Result<std::string> with_value(const std::string& source, const std::string& name,
                               const std::string& value, bool python) {
  for (const auto& setting : settings_of(name, python)) {
    const std::sregex_iterator first(source.begin(), source.end(), setting);
    const auto count = std::distance(first, std::sregex_iterator());
    if (count == 0) continue;
    if (count > 1)
      return invalid_argument(fmt::format("grid: the source sets {} {} times", name, count),
                              "Set it once, so that one value has one meaning.");
    const auto& at = *first;
    return source.substr(0, static_cast<std::size_t>(at.position(3))) + value +
           source.substr(static_cast<std::size_t>(at.position(3) + at.length(3)));
  }
  if (python)
    return invalid_argument(
        fmt::format("grid: {} is not a constant of the module", name),
        fmt::format("Add a line \"{} = {}\" at the top level and use it.", name, value));
  if (!std::regex_search(source, std::regex("\\b" + name + "\\b")))
    return invalid_argument(fmt::format("grid: the source does not mention {}", name),
                            "Name a macro or constant of the kernel.");
  return fmt::format("#define {} {}\n#line 1\n{}", name, value, source);
}

}  // namespace

Result<Grid> grid_of(const std::vector<std::string>& entries) {
  static const std::regex form("([A-Za-z_][A-Za-z0-9_]*)=([A-Za-z0-9_.+*/()<>:, -]+)");
  Grid grid;
  std::size_t points = 1;
  for (const auto& entry : entries) {
    std::smatch parts;
    if (!std::regex_match(entry, parts, form))
      return invalid_argument(fmt::format("grid: \"{}\" is not NAME=value,value", entry), kForm);
    auto values = split(parts[2]);
    for (const auto& value : values)
      if (value.empty())
        return invalid_argument(fmt::format("grid: \"{}\" has an empty value", entry), kForm);
    points *= values.size();
    if (points > kMostPoints)
      return invalid_argument(
          fmt::format("grid: {} combinations and more; the most is {}", points, kMostPoints),
          "Sweep fewer names or values at once; the best of one sweep is the base of the next.");
    if (!grid.emplace(parts[1], std::move(values)).second)
      return invalid_argument(fmt::format("grid: {} is given twice", parts[1].str()), kForm);
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
