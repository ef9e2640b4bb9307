#include "kbs/documents/page_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "kbs/documents/labels.h"
#include "kbs/documents/yaml.h"
#include "server/core/text.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kMaxHeader = 512UL << 10U;
constexpr std::size_t kMaxVocabulary = 1UL << 20U;
constexpr std::size_t kMaxAliases = 4UL << 20U;  // bytes: those of a group grow with its square

Error bad_page(std::string message) {
  return {
      ErrorCode::invalid_argument, std::move(message),
      "Begin the page with a YAML header between two `---` lines, with at least `id` and `title`."};
}

/// Runs `read` and converts a YAML exception into an error.
template <class Read>
auto reading_yaml(Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const YAML::Exception& problem) {
    return bad_page(fmt::format("YAML header, line {}: {}", problem.mark.line + 2, problem.msg));
  }
}

std::string scalar(const YamlNode& node) {
  return node.is_scalar() ? node.text : std::string{};
}

/// The scalars of a list, or a single scalar as a list of one; anything else is skipped.
std::vector<std::string> strings(const YamlNode& node) {
  std::vector<std::string> out;
  if (node.is_scalar() && !node.text.empty()) out.push_back(node.text);
  if (node.is_sequence())
    for (const auto& item : node.items)
      if (item.is_scalar() && !item.text.empty()) out.push_back(item.text);
  return out;
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::vector<SpecRow>> read_specs(const YamlNode& metrics) {
  std::vector<SpecRow> rows;
  if (!metrics.is_sequence()) return rows;
  for (const auto& item : metrics.items) {
    SpecRow row;
    row.line = item.line + 2;  // counted from 0, and `---` is the first line
    if (!item.is_map())
      return bad_page(fmt::format("line {}: a metric must be {{id, value, unit, …}}", row.line));
    row.metric = scalar(item["id"]);
    const auto value = number(scalar(item["value"]));
    if (row.metric.empty() || !value)
      return bad_page(
          fmt::format("line {}: a metric needs `id` and a number as `value`", row.line));
    row.value = *value;
    row.unit = scalar(item["unit"]);
    row.qualifier = scalar(item["qualifier"]);
    row.kind = scalar(item["kind"]);
    row.source = scalar(item["source"]);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<SourceNote> read_sources(const YamlNode& sources) {
  std::vector<SourceNote> notes;
  if (!sources.is_sequence()) return notes;
  for (const auto& item : sources.items) {
    if (item.is_scalar()) notes.push_back({item.text, "", ""});
    if (item.is_map())
      notes.push_back({scalar(item["id"]), scalar(item["title"]), scalar(item["publisher"])});
  }
  return notes;
}

std::vector<CureNote> read_cures(const YamlNode& cures) {
  std::vector<CureNote> notes;
  if (!cures.is_map()) return notes;
  for (std::size_t i = 0; i < cures.keys.size(); ++i)
    notes.push_back({cures.keys[i], scalar(cures.items[i])});
  return notes;
}

/// How a language comments a line, and the name of its fence.
struct Dialect {
  std::string_view extension, comment, fence;
};

const Dialect* dialect_of(std::string_view path) {
  static constexpr std::array<Dialect, 3> kDialects{
      {{".cu", "//", "cuda"}, {".cpp", "//", "cpp"}, {".py", "#", "python"}}};
  const auto found = std::ranges::find_if(
      kDialects, [&](const Dialect& dialect) { return path.ends_with(dialect.extension); });
  return found != kDialects.end() ? found : nullptr;
}

Scope scope_of(std::string_view path) {
  const auto within = [&](std::string_view folder) {
    return path.starts_with(folder) ||
           path.find("/" + std::string(folder)) != std::string_view::npos;
  };
  if (within("sources/prs/")) return Scope::prs;
  if (within("sources/blogs/")) return Scope::blogs;
  if (within("sources/contests/")) return Scope::contests;
  if (within("sources/")) return Scope::docs;
  return Scope::wiki;
}

void append(std::vector<std::string>& to, std::vector<std::string> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

std::string first_of(const YamlNode& header, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto value = scalar(header[name]); !value.empty()) return value;
  return {};
}

/// The values of all fields that hold tags, sorted, without duplicates.
std::vector<std::string> all_tags(const YamlNode& header) {
  std::vector<std::string> tags;
  for (const char* name : {"tags", "techniques", "hardware_features", "kernel_types"})
    append(tags, strings(header[name]));
  std::ranges::sort(tags);
  tags.erase(std::ranges::unique(tags).begin(), tags.end());
  return tags;
}

Result<Document> read_header(const PageParts& parts, Document page) {
  const auto header = load_yaml(parts.header);
  if (!header.is_map()) return bad_page("YAML header is not a map");
  page.id = scalar(header["id"]);
  if (page.id.empty()) return bad_page("YAML header has no `id`");
  if (!is_document_id(page.id))
    return bad_page(fmt::format("id '{}' must match [A-Za-z0-9._-]+", page.id));
  page.title = first_of(header, {"title", "name"});
  if (page.title.empty()) page.title = page.id;
  page.kind = first_of(header, {"kind", "type", "source_category"});
  page.repo = scalar(header["repo"]);
  page.date = first_of(header, {"date", "merged_at", "retrieved_at", "captured_at"});
  page.confidence = scalar(header["confidence"]);
  page.license = scalar(header["license"]);
  page.product = scalar(header["product"]);
  page.code_evidence = scalar(header["code_evidence"]);
  page.measured_on = scalar(header["measured_on"]);
  page.tags = all_tags(header);
  page.aliases = strings(header["aliases"]);
  page.symptoms = strings(header["symptoms"]);
  page.languages = strings(header["languages"]);
  for (const char* name : {"candidate_techniques", "prerequisites", "vendor", "author"})
    append(page.extra_terms, strings(header[name]));
  page.proposes = strings(header["candidate_techniques"]);
  page.sources = read_sources(header["sources"]);
  page.cures = read_cures(header["cures"]);
  page.architectures = label_architectures(strings(header["architectures"]), page.scope,
                                           page.title + "\n" + std::string(parts.body));
  auto specs = read_specs(header["metrics"]);
  if (!specs) return specs.error();
  page.specs = *std::move(specs);
  return page;
}

/// Collects aliases up to a limit.
class Aliases {
 public:
  /// False when there is no room.
  bool add(const std::string& word, const std::string& replacement) {
    bytes_ += sizeof(Alias) + word.size() + replacement.size();
    if (bytes_ > kMaxAliases) return false;
    aliases_.push_back({word, replacement});
    return true;
  }
  std::vector<Alias> take() { return std::move(aliases_); }

 private:
  std::size_t bytes_ = 0;
  std::vector<Alias> aliases_;
};

}  // namespace

PageParts split_page(std::string_view text) {
  const auto line_end = [&](std::size_t from) {
    return std::min(text.find('\n', from), text.size());
  };
  const auto is_fence = [&](std::size_t begin, std::size_t end) {
    auto line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line == "---";
  };
  const auto first = line_end(0);
  if (!is_fence(0, first)) return {{}, text, 1};
  int line = 2;
  for (std::size_t begin = first + 1; begin < text.size(); ++line) {
    const auto end = line_end(begin);
    if (is_fence(begin, end))
      return {text.substr(first + 1, begin - first - 1),
              text.substr(std::min(end + 1, text.size())), line + 1};
    begin = end + 1;
  }
  return {{}, text, 1};
}

bool is_code_page(std::string_view path, std::string_view first_line) {
  const auto* dialect = dialect_of(path);
  if (dialect == nullptr) return false;
  if (first_line.ends_with('\r')) first_line.remove_suffix(1);
  return first_line == std::string(dialect->comment) + " ---";
}

Result<std::string> page_of_code(std::string_view path, std::string_view text) {
  const auto* dialect = dialect_of(path);
  if (dialect == nullptr) return bad_page("code is read from .cu, .cpp and .py files");
  std::string page;
  std::size_t at = 0;
  for (int fences = 0; fences < 2;) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    if (!line.starts_with(dialect->comment)) return bad_page("the header's comment does not end");
    line.remove_prefix(dialect->comment.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (line == "---") ++fences;
    if (fences == 0) return bad_page("no YAML header");
    page.append(line).append("\n");
    at = std::min(end + 1, text.size());
  }
  if (at == text.size()) return bad_page("no code after the header");
  if (text[at] != '\n') return bad_page("no empty line between the header and the code");
  page.append("```").append(dialect->fence).append(text.substr(at));
  return page + (text.ends_with('\n') ? "```\n" : "\n```\n");
}

Result<Document> read_page(std::string_view path, std::string text) {
  if (!is_utf8(text)) return bad_page("not UTF-8 text");
  if (text.find(char{0}) != std::string::npos) return bad_page("contains NUL bytes");
  const auto parts = split_page(text);
  if (parts.header.empty()) return bad_page("no YAML header");
  if (parts.header.size() > kMaxHeader)
    return bad_page(
        fmt::format("YAML header is {} bytes; at most {}", parts.header.size(), kMaxHeader));
  Document page;
  page.path = path;
  page.scope = scope_of(path);
  auto read = reading_yaml([&] { return read_header(parts, std::move(page)); });
  if (!read) return read;
  read->has_code = parts.body.find("```") != std::string_view::npos;
  read->text = std::move(text);
  return read;
}

Result<Json> header_json(std::string_view header) {
  if (header.empty()) return Json::object();
  return reading_yaml([&]() -> Result<Json> { return to_json(load_yaml(header)); });
}

Result<std::vector<Alias>> read_vocabulary(std::string_view yaml) {
  if (yaml.size() > kMaxVocabulary)
    return bad_page(
        fmt::format("the vocabulary has {} bytes; at most {}", yaml.size(), kMaxVocabulary));
  return reading_yaml([&]() -> Result<std::vector<Alias>> {
    const auto root = load_yaml(yaml);
    if (!root.is_map()) return bad_page("vocabulary is not a map");
    Aliases aliases;
    const auto& directed = root["aliases"];
    const auto& groups = directed ? directed : root;
    for (std::size_t i = 0; i < groups.keys.size(); ++i) {
      const auto group = strings(groups.items[i]);
      const auto& word = groups.keys[i];
      bool fits = true;
      for (const auto& member : group) fits = fits && aliases.add(word, member);
      for (const auto& from : directed ? std::vector<std::string>{} : group) {
        fits = fits && aliases.add(from, word);
        for (const auto& to : group) fits = fits && (from == to || aliases.add(from, to));
      }
      if (!fits)
        return Error{ErrorCode::too_large,
                     fmt::format("up to \"{}\", whose list has {} words, the vocabulary takes more "
                                 "than {} MiB, since every word of a list stands for every other",
                                 word.substr(0, 100), group.size(), kMaxAliases >> 20U),
                     "Split long lists, or put them under `aliases`, which work in one direction."};
    }
    return aliases.take();
  });
}

std::string headings_of(std::string_view body) {
  std::string out;
  bool code = false;
  for (const auto line : lines_of(body)) {
    if (line.starts_with("```")) code = !code;
    if (code || !line.starts_with('#')) continue;
    const auto text = line.find_first_not_of("# ");
    if (text != std::string_view::npos) out.append(line.substr(text)).append("\n");
  }
  return out;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    std::uint64_t eight = 0;
    if (i + sizeof eight <= text.size()) std::memcpy(&eight, text.data() + i, sizeof eight);
    if (i + sizeof eight <= text.size() && (eight & 0x8080808080808080U) == 0) {
      i += sizeof eight;  // ASCII
      continue;
    }
    const auto lead = static_cast<unsigned char>(text[i]);
    std::size_t more = 0;
    if (lead < 0x80) {
      ++i;
      continue;
    }
    if (lead >= 0xC2 && lead <= 0xDF) more = 1;
    if (lead >= 0xE0 && lead <= 0xEF) more = 2;
    if (lead >= 0xF0 && lead <= 0xF4) more = 3;
    if (more == 0 || i + more >= text.size()) return false;
    // Longer forms of a character than its shortest, surrogates, and beyond U+10FFFF.
    const auto second = static_cast<unsigned char>(text[i + 1]);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90))
      return false;
    for (std::size_t k = 1; k <= more; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0U) != 0x80U) return false;
    i += more + 1;
  }
  return true;
}

}  // namespace ratchet::kbs
