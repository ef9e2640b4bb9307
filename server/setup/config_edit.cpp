#include "server/setup/config_edit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "server/core/text.h"
#include "server/setup/json_config.h"
#include "server/setup/scanner.h"
#include "server/setup/toml_reader.h"

namespace ratchet::setup {
namespace {

using Path = std::vector<std::string>;

json_config::Comments comments_of(const Format& format) {
  return format.syntax == Format::Syntax::json_with_comments ? json_config::Comments::kept
                                                             : json_config::Comments::refused;
}

bool is_toml(const Format& format) {
  return format.syntax == Format::Syntax::toml;
}

/// The bytes of the entry's statements with their line ends; what is between belongs to them.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Result<std::vector<Span>> toml_spans(std::string_view text, const Path& path) {
  auto statements = read_toml(text);
  if (!statements) return statements.error();
  std::vector<Span> spans;
  bool before = false;
  for (const auto& one : *statements) {
    const bool ours = one.within(path);
    if (!ours && one.path.size() < path.size() && one.kind != TomlStatement::Kind::table &&
        Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(one.path.size())) == one.path)
      return Cursor(text).wrong(
          fmt::format("{} is written on one line or as a list, which nothing can be added to; "
                      "write each server as a table of its own, [{}.NAME]",
                      fmt::join(one.path, "."), path.front()),
          one.begin);
    if (ours) {
      const auto end = std::min(text.find('\n', one.end), text.size() - 1) + 1;
      if (before)
        spans.back().end = end;
      else
        spans.push_back({one.begin, end});
    }
    before = ours;
  }
  return spans;
}

std::string toml_table(const Format& format, const std::string& name, const Json& entry) {
  std::string out = fmt::format("[{}.{}]\n", format.container, name);
  for (const auto& [key, value] : entry.items()) {
    out += key + " = ";
    if (value.is_array()) {
      std::string list;
      for (const auto& one : value) list += (list.empty() ? "" : ", ") + one.dump();
      out += "[" + list + "]\n";
    } else {
      out += value.dump() + "\n";
    }
  }
  return out;
}

Result<Insertion> toml_insertion(const Format& format, std::string_view text,
                                 const std::string& name, const Json& entry) {
  if (auto spans = toml_spans(text, {std::string(format.container), name}); !spans)
    return spans.error();
  std::string out = toml_table(format, name, entry);
  if (!text.empty()) out.insert(0, text.ends_with('\n') ? "\n" : "\n\n");
  return Insertion{text.size(), with_line_ends(std::move(out), line_end_of(text))};
}

}  // namespace

Result<std::optional<std::string>> entry_in(const Format& format, std::string_view text,
                                            const std::string& name) {
  if (!is_toml(format))
    return json_config::entry_in(comments_of(format), text, format.container, name);
  auto spans = toml_spans(text, {std::string(format.container), name});
  if (!spans) return spans.error();
  if (spans->empty()) return std::optional<std::string>{};
  std::string out;
  for (const auto& span : *spans) out += text.substr(span.begin, span.end - span.begin);
  return std::optional(std::move(out));
}

Result<Insertion> insertion_into(const Format& format, std::string_view text,
                                 const std::string& name, const Json& entry) {
  auto insertion = is_toml(format) ? toml_insertion(format, text, name, entry)
                                   : json_config::insertion_into(comments_of(format), text,
                                                                 format.container, name, entry);
  if (!insertion) return insertion;
  // Read again, so that nothing is written that the file's own rules do not allow.
  auto added = entry_in(format, insertion->applied_to(text), name);
  if (!added) return added.error().at("the file with the new entry");
  return insertion;
}

Result<std::string> removed_from(const Format& format, std::string_view text,
                                 const std::string& name, bool container_too) {
  if (!is_toml(format))
    return json_config::removed_from(comments_of(format), text, format.container, name,
                                     container_too);
  auto spans = toml_spans(text, {std::string(format.container), name});
  if (!spans) return spans.error();
  std::string out(text);
  for (auto span = spans->rbegin(); span != spans->rend(); ++span) {
    const bool blank_before = text.substr(0, span->begin).ends_with("\n\n");
    const auto begin = span->begin - (blank_before ? 1 : 0);
    out.erase(begin, span->end - begin);
  }
  return out;
}

bool holds_nothing(const Format& format, std::string_view text) {
  return is_toml(format) ? trimmed(text).empty()
                         : json_config::holds_nothing(comments_of(format), text, format.container);
}

}  // namespace ratchet::setup
