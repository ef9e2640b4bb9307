#include "kbs/query/grep.h"

#include <fmt/format.h>
#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>

#include "kbs/documents/page_reader.h"
#include "kbs/index/code_file.h"
#include "kbs/query/cursor.h"
#include "kbs/query/filters.h"
#include "kbs/text/trigrams.h"
#include "server/sqlite/compression.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kMaxPattern = 1000;  // bytes
constexpr int kMaxLimit = 200;
constexpr std::size_t kAnswerBytes = 12'000;
constexpr std::size_t kLineBytes = 300;  // longer lines are truncated
constexpr int kMaxContext = 10;
constexpr int kMaxMatches = 100'000;  // counting stops here, for patterns that match everything

/// A compiled pattern with the literals that every match must contain.
class Pattern {
 public:
  explicit Pattern(const GrepRequest& request) : filter_(3) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_case_sensitive(!request.ignore_case);
    options.set_max_mem(16 << 20);
    int unused = 0;
    compile("(?m)" + request.pattern, options);
    if (!regex_->ok()) {
      as_text_ = true;
      options.set_encoding(RE2::Options::EncodingLatin1);  // accepts any bytes
      options.set_literal(true);
      compile(request.pattern, options);
    }
    const auto source = as_text_ ? request.pattern : "(?m)" + request.pattern;
    filtered_ = filter_.Add(source, options, &unused) == RE2::NoError;
    if (filtered_) filter_.Compile(&literals_);
    filtered_ = filtered_ && !literals_.empty();
  }

  [[nodiscard]] bool as_text() const { return as_text_; }
  [[nodiscard]] const RE2& regex() const { return *regex_; }

  /// False when the document's trigrams rule a match out.
  [[nodiscard]] bool possible(std::string_view trigrams) const {
    if (!filtered_) return true;
    std::vector<int> present;
    for (std::size_t i = 0; i < literals_.size(); ++i)
      if (may_contain(trigrams, literals_[i])) present.push_back(static_cast<int>(i));
    std::vector<int> potential;
    filter_.AllPotentials(present, &potential);
    return !potential.empty();
  }

 private:
  void compile(const std::string& source, const RE2::Options& options) {
    regex_ = std::make_unique<RE2>(source, options);
  }

  std::unique_ptr<RE2> regex_;
  re2::FilteredRE2 filter_;
  std::vector<std::string> literals_;
  bool filtered_ = false;
  bool as_text_ = false;
};

/// The position of a line in a text.
struct Line {
  std::size_t begin = 0;
  std::size_t end = 0;
  int number = 1;
};

/// The line that contains offset `at`, searching forward from the line `from`.
Line line_around(std::string_view text, std::size_t at, Line from) {
  for (;;) {
    from.end = std::min(text.find('\n', from.begin), text.size());
    if (at <= from.end) return from;
    from.begin = from.end + 1;
    ++from.number;
  }
}

std::string clipped(std::string_view line) {
  if (line.size() <= kLineBytes) return std::string(line);
  auto size = kLineBytes;
  while (size > 0 && (static_cast<unsigned char>(line[size]) & 0xC0U) == 0x80U) --size;
  return std::string(line.substr(0, size)) + "…";
}

std::string with_context(std::string_view text, const Line& line, int context) {
  auto begin = line.begin;
  for (int i = 0; i < context && begin > 0; ++i) {
    const auto before = begin >= 2 ? text.rfind('\n', begin - 2) : std::string_view::npos;
    begin = before == std::string_view::npos ? 0 : before + 1;
  }
  std::string out;
  int after = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    if (begin > line.begin && ++after > context) break;
    if (!out.empty()) out += '\n';
    out += clipped(text.substr(begin, end - begin));
    if (context == 0) break;
    begin = end + 1;
  }
  return out;
}

class Grep {
 public:
  Grep(const Indexes& indexes, const GrepRequest& request) : indexes_(indexes), request_(request) {}

  Result<GrepAnswer> run() {
    if (request_.pattern.empty() || request_.pattern.size() > kMaxPattern) {
      answer_.note =
          fmt::format("a pattern must have 1 to {} bytes; nothing was searched", kMaxPattern);
      return std::move(answer_);
    }
    auto scopes = scope_mask(request_.scopes.values);
    if (!scopes) return scopes.error();
    auto offset = read_cursor(request_.cursor, fingerprint());
    if (!offset) return offset.error();
    offset_ = *offset;
    const Pattern pattern(request_);
    for (std::size_t r = 0; r < indexes_.readers.size(); ++r) {
      if ((*scopes & ~kCodeScopes) != 0)
        if (auto done = search_pages(r, *scopes, pattern); !done) return done.error();
      if ((*scopes & kCodeScopes) != 0)
        if (auto done = search_code(r, *scopes, pattern); !done) return done.error();
    }
    finish(pattern);
    return std::move(answer_);
  }

 private:
  [[nodiscard]] std::string fingerprint() const {
    std::string all = fmt::format("{}\x1f{}{}\x1f{}", request_.pattern, request_.ignore_case,
                                  request_.files_only, fmt::join(request_.scopes.values, ","));
    for (const auto& reader : indexes_.readers) all += reader->identity();
    return mark_of(all);
  }

  Status search_code(std::size_t r, std::uint32_t scopes, const Pattern& pattern) {
    auto connection = indexes_.readers[r]->connection();
    if (!connection) return connection.error();
    auto rows = (*connection)
                    ->prepared(
                        "SELECT file.rowid, trigrams, text, path, line, bundle.id, ordinal, "
                        "source_path, corpus FROM file JOIN bundle ON bundle.rowid=file.bundle "
                        "ORDER BY file.rowid");
    if (!rows) return rows.error();
    const auto& files = indexes_.readers[r]->code().files;
    while (matches_ < kMaxMatches) {
      auto row = (*rows)->step();
      if (!row) return row.error();
      if (!*row) break;
      const auto scope = files[static_cast<std::size_t>((*rows)->integer(0))].scope;
      if ((scopes >> scope & 1U) == 0 || !pattern.possible((*rows)->blob(1))) continue;
      auto text = decompress((*rows)->blob(2));
      if (!text) return text.error();
      origin_ = indexes_.origin(r, (*rows)->text(8));
      search_file(**rows, static_cast<Scope>(scope), *text, pattern);
    }
    return {};
  }

  void search_file(const Statement& row, Scope scope, const std::string& text,
                   const Pattern& pattern) {
    const auto id = code_id(scope, row.text(5), row.integer(6));
    const std::string path(row.text(3));
    const auto first = static_cast<int>(row.integer(4));
    std::vector<CodePart> parts;  // computed for the first match
    each_match(text, pattern, [&](const Line& line, std::size_t at) {
      if (request_.files_only) return add(id, path, first + line.number - 1, shown(text, line));
      if (parts.empty()) parts = parts_of(scope, text, row.text(7));
      const auto after = std::ranges::upper_bound(parts, at, {}, &CodePart::begin);
      add(fmt::format("{}.{}", id, after - parts.begin()), path, first + line.number - 1,
          shown(text, line));
    });
  }

  Status search_pages(std::size_t r, std::uint32_t scopes, const Pattern& pattern) {
    auto connection = indexes_.readers[r]->connection();
    if (!connection) return connection.error();
    auto rows = (*connection)
                    ->prepared(
                        "SELECT rowid, id, corpus, path, extra_path, trigrams, text, extra FROM "
                        "doc ORDER BY rowid");
    if (!rows) return rows.error();
    const auto& statistics = indexes_.readers[r]->statistics();
    while (matches_ < kMaxMatches) {
      auto row = (*rows)->step();
      if (!row) return row.error();
      if (!*row) break;
      const auto scope = static_cast<unsigned>(statistics.of((*rows)->integer(0)).scope());
      if ((scopes >> scope & 1U) == 0 || !pattern.possible((*rows)->blob(5))) continue;
      const auto id = indexes_.shown_id(r, (*rows)->text(1), (*rows)->text(2));
      origin_ = indexes_.origin(r, (*rows)->text(2));
      if (auto done = search_document(**rows, id, pattern); !done) return done;
    }
    return {};
  }

  Status search_document(const Statement& row, const std::string& id, const Pattern& pattern) {
    auto text = decompress(row.blob(6));
    if (!text) return text.error();
    if (search_text(*text, id, std::string(row.text(3)), 0, pattern) && request_.files_only)
      return {};
    auto extra = decompress(row.blob(7));
    if (!extra) return extra.error();
    // A record is one line of its file, and that is the line to cite.
    const auto place = row.text(4);
    const auto colon = place.rfind(':');
    if (extra->empty() || colon == std::string_view::npos) return {};
    const int line = std::atoi(std::string(place.substr(colon + 1)).c_str());
    search_text(*extra, id, std::string(place.substr(0, colon)), line, pattern);
    return {};
  }

  /// `fixed_line`: the line to cite for every match; 0: the line of the match. True on a match.
  bool search_text(std::string_view text, const std::string& id, const std::string& path,
                   int fixed_line, const Pattern& pattern) {
    return each_match(text, pattern, [&](const Line& line, std::size_t) {
      add(id, path, fixed_line != 0 ? fixed_line : line.number, shown(text, line));
    });
  }

  /// Calls `found(line, offset)` for each line that matches, or for the first one only with
  /// `files_only`. True on a match.
  template <class Found>
  bool each_match(std::string_view text, const Pattern& pattern, Found found) {
    Line line;
    re2::StringPiece match;
    bool any = false;
    for (std::size_t at = 0; at <= text.size() && matches_ < kMaxMatches;) {
      if (!pattern.regex().Match({text.data(), text.size()}, at, text.size(), RE2::UNANCHORED,
                                 &match, 1))
        break;
      any = true;
      const auto offset = static_cast<std::size_t>(match.data() - text.data());
      line = line_around(text, offset, line);
      found(line, offset);
      if (request_.files_only) break;
      at = line.end + 1;
    }
    return any;
  }

  /// The line with its context; empty when it is outside the page of results.
  [[nodiscard]] std::string shown(std::string_view text, const Line& line) const {
    if (full_ || static_cast<std::size_t>(matches_) < offset_) return {};
    return with_context(text, line, context());
  }

  [[nodiscard]] int context() const { return std::clamp(request_.context, 0, kMaxContext); }

  void add(const std::string& id, const std::string& path, int line, std::string text) {
    const auto index = static_cast<std::size_t>(matches_++);
    if (index < offset_ || full_) return;
    const auto limit = static_cast<std::size_t>(std::clamp(request_.limit, 1, kMaxLimit));
    const auto size = id.size() + path.size() + text.size() + 60;
    if (answer_.hits.size() >= limit || (bytes_ + size > kAnswerBytes && !answer_.hits.empty())) {
      full_ = true;
      answer_.next_cursor = write_cursor(index, fingerprint());
      return;
    }
    bytes_ += size;
    answer_.hits.push_back({id, path, line, std::move(text), origin_});
  }

  void finish(const Pattern& pattern) {
    answer_.total = matches_;
    if (pattern.as_text())
      answer_.note =
          fmt::format("not a regular expression ({}); searched as text", first_error(request_));
    else if (matches_ >= kMaxMatches)
      answer_.note = fmt::format("more than {} matches; narrow the pattern", kMaxMatches);
  }

  static std::string first_error(const GrepRequest& request) {
    RE2::Options options;
    options.set_log_errors(false);
    const RE2 regex(request.pattern, options);
    return is_utf8(regex.error()) ? regex.error() : "not UTF-8";
  }

  const Indexes& indexes_;
  const GrepRequest& request_;
  GrepAnswer answer_;
  Origin origin_;  // of the document that is searched
  std::size_t offset_ = 0;
  std::size_t bytes_ = 0;
  int matches_ = 0;
  bool full_ = false;
};

}  // namespace

Result<GrepAnswer> grep(const Indexes& indexes, const GrepRequest& request) {
  return Grep(indexes, request).run();
}

}  // namespace ratchet::kbs
