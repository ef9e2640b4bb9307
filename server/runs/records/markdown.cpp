#include "server/runs/records/markdown.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstdint>

#include "server/facts/contract.h"

namespace ratchet::markdown {

std::string one_line(std::string_view text) {
  std::string line;
  bool blank = false;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      blank = !line.empty();
      continue;
    }
    if (blank) line += ' ';
    blank = false;
    line += c;
  }
  return line;
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(text)) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

namespace {

std::string row_text(const std::vector<std::string>& cells, std::size_t width) {
  std::string row = "|";
  for (std::size_t i = 0; i < width; ++i)
    row += fmt::format(" {} |", i < cells.size() ? cell(cells[i]) : "");
  return row + "\n";
}

}  // namespace

std::string table(const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string text = row_text(header, header.size()) + "|";
  for (std::size_t i = 0; i < header.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : rows) text += row_text(row, header.size());
  return text;
}

std::string field_table(const Fields& fields) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : fields) rows.push_back({name, value});
  return table({"Field", "Value"}, rows);
}

std::string bullets(const Fields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) text += fmt::format("- {}: {}\n", name, one_line(value));
  return text;
}

std::string reasons(const std::vector<Reason>& reasons, std::string_view none) {
  if (reasons.empty()) return std::string(none);
  std::string text;
  for (const auto& reason : reasons)
    text += fmt::format("- {}: {}\n", reason.code, one_line(reason.message));
  return text;
}

void append(std::string& list, std::string_view item, std::string_view separator) {
  if (!list.empty()) list += separator;
  list += item;
}

std::string quoted(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    out += line.empty() ? ">\n" : fmt::format("> {}\n", line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

std::string milliseconds(double ns) {
  return number(ns / 1e6);
}

std::string number(double value) {
  if (!std::isfinite(value)) return "unknown";
  if (value == std::trunc(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.6g}", value);
}

std::string number_or(const std::optional<double>& value, std::string_view none) {
  return value ? number(*value) : std::string(none);
}

std::string percent(const std::optional<double>& fraction) {
  return fraction ? number(*fraction * 100) : "N/A";
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string dims_text(const std::map<std::string, std::int64_t>& dims) {
  return dims.empty() ? "-" : ratchet::dims_text(dims, ", ");
}

Json parsed_json(std::string_view text) {
  return Json::parse(text, nullptr, false);
}

}  // namespace ratchet::markdown
