#include "server/core/tool.h"

#include <fmt/format.h>

#include "server/core/figures.h"
#include "server/core/origin.h"

namespace ratchet {
namespace {

std::string scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return three_digits(value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_flat(const Json& value) {
  if (!value.is_structured()) return true;
  for (const auto& element : value)
    if (element.is_structured() && !element.empty()) return false;
  return true;
}

bool is_empty(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.is_null() || (value.is_structured() && value.empty());
}

/// `{"a": 1, "b": "x"}` as `a=1 b=x`; rows of a list stay on one line each.
std::string row_text(const Json& object) {
  std::string line;
  for (const auto& [key, value] : object.items())
    if (!is_empty(value))
      line += fmt::format("{}{}={}", line.empty() ? "" : "  ", key, scalar_text(value));
  return line;
}

/// Numbers and short words only, so that a line holds them.
bool fits_a_line(const Json& object) {
  constexpr std::size_t kLine = 160;
  const auto line = row_text(object);
  return line.size() <= kLine && line.find('\n') == std::string::npos;
}

bool is_foreign(const Json& value) {
  return value.is_object() && value.contains(kUntrusted);
}

void append(std::string& out, const Json& value, std::size_t indent);

/// A record of foreign text: who wrote it, and the record behind a fence. `lead` may be empty.
void append_foreign(std::string& out, const std::string& margin, const std::string& lead,
                    Json record) {
  const auto origin = record.value("origin", "");
  record.erase("origin");
  record.erase(kUntrusted);
  std::string text;
  if (lead == "-" && is_flat(record))
    text = row_text(record);
  else
    append(text, record, 0);
  if (text.ends_with('\n')) text.pop_back();
  out += fmt::format("{}{}{}[{}]", margin, lead, lead.empty() ? "" : " ", origin);
  auto lines = fenced(text, margin + "  ");
  const bool one = lines.find('\n') + 1 == lines.size();
  out += one ? " " + lines.substr(margin.size() + 2) : "\n" + lines;
}

void append_item(std::string& out, const std::string& margin, const std::string& lead,
                 const Json& child) {
  if (is_foreign(child)) {
    append_foreign(out, margin, lead, child);
  } else if (!child.is_structured()) {
    const std::string text = scalar_text(child);
    if (text.find('\n') == std::string::npos) {
      out += margin + lead + " " + text + "\n";
      return;
    }
    out += margin + lead + "\n" + text + (text.back() == '\n' ? "" : "\n");
  } else if (child.empty()) {
    out += margin + lead + " none\n";
  } else if (child.is_object() && is_flat(child) && (lead == "-" || fits_a_line(child))) {
    out += margin + lead + " " + row_text(child) + "\n";
  } else if (child.is_array() && is_flat(child)) {
    std::string line;
    for (const auto& element : child) line += (line.empty() ? "" : ", ") + scalar_text(element);
    out += margin + lead + " " + line + "\n";
  } else {
    out += margin + lead + "\n";
    append(out, child, margin.size() + 2);
  }
}

void append(std::string& out, const Json& value, std::size_t indent) {
  const std::string margin(indent, ' ');
  if (is_foreign(value)) {
    append_foreign(out, margin, "", value);
  } else if (value.is_object()) {
    for (const auto& [key, child] : value.items())
      if (indent == 0 || !is_empty(child)) append_item(out, margin, key + ":", child);
  } else if (value.is_array()) {
    for (const auto& child : value) append_item(out, margin, "-", child);
  } else {
    out += margin + scalar_text(value) + "\n";
  }
}

}  // namespace

ToolAnswer error_answer(const Error& error) {
  std::string text = fmt::format("{}: {}", name_of(error.code), error.message);
  if (!error.hint.empty()) text += "\n" + error.hint;
  return {nullptr, std::move(text), true};
}

std::string readable_text(const Json& value, const std::vector<std::string>& first) {
  std::string out;
  if (!value.is_object() || is_foreign(value)) {
    append(out, value, 0);
    return out;
  }
  Json rest = value;
  for (const auto& key : first)
    if (const auto found = rest.find(key); found != rest.end()) {
      append_item(out, "", key + ":", *found);
      rest.erase(found);
    }
  append(out, rest, 0);
  return out;
}

}  // namespace ratchet
