#include "server/setup/toml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <utility>

#include "server/core/fields.h"
#include "server/setup/scanner.h"

namespace ratchet::setup {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr int kDeepest = 200;

bool is_bare(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool is_scalar(const std::string& token) {
  static const std::regex scalar(
      "true|false|[+-]?(inf|nan)"
      "|[+-]?(0|[1-9](_?[0-9])*)((\\.[0-9](_?[0-9])*)?([eE][+-]?[0-9](_?[0-9])*)?)"
      "|0x[0-9A-Fa-f](_?[0-9A-Fa-f])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*"
      "|[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?"
      "([Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
      "|[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?");
  return std::regex_match(token, scalar);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : at_(text) {}

  Result<std::vector<TomlStatement>> document() {
    at_.take("\xEF\xBB\xBF");
    while (!at_.done()) {
      at_.skip(kBlanks);
      if (auto read = at_.peek() == '[' ? header() : assignment(); !read) return read.error();
      if (auto ended = line_end(); !ended) return ended.error();
    }
    return std::move(statements_);
  }

 private:
  Status line_end() {
    at_.skip(kBlanks);
    if (at_.peek() == '#') at_.skip_line();
    at_.take("\r");
    if (at_.done() || at_.take("\n")) return {};
    return at_.wrong("expected the end of the line");
  }

  Status header() {
    TomlStatement one{.kind = TomlStatement::Kind::table,
                      .begin = line_begin(at_.text(), at_.at())};
    const bool array = at_.take("[[");
    if (array)
      one.kind = TomlStatement::Kind::array_of_tables;
    else
      at_.take("[");
    auto path = key();
    if (!path) return path.error();
    if (!at_.take(array ? "]]" : "]"))
      return at_.wrong(fmt::format("expected {}", array ? "]]" : "]"));
    one.path = table_ = *std::move(path);
    return add(std::move(one));
  }

  Status assignment() {
    if (at_.done() || std::string_view("#\r\n").find(at_.peek()) != std::string_view::npos)
      return {};
    TomlStatement one{.path = table_, .begin = line_begin(at_.text(), at_.at())};
    auto path = key();
    if (!path) return path.error();
    one.path.insert(one.path.end(), path->begin(), path->end());
    if (!at_.take("=")) return at_.wrong("expected =");
    at_.skip(kBlanks);
    if (auto read = value(0); !read) return read;
    return add(std::move(one));
  }

  Status add(TomlStatement one) {
    one.end = at_.at();
    const bool repeats = one.kind == TomlStatement::Kind::array_of_tables;
    if (repeats) arrays_.push_back(one.path);
    const bool within_array =
        std::ranges::any_of(arrays_, [&](const auto& array) { return one.within(array); });
    if (!within_array && !seen_.insert(one.path).second)
      return at_.wrong(fmt::format("{} stands here a second time", fmt::join(one.path, ".")),
                       one.begin);
    statements_.push_back(std::move(one));
    return {};
  }

  /// A dotted key with the blanks around it.
  Result<std::vector<std::string>> key() {
    std::vector<std::string> path;
    do {
      at_.skip(kBlanks);
      const auto begin = at_.at();
      if (at_.peek() == '"' || at_.peek() == '\'') {
        const char quote = at_.peek();
        if (auto read = string(quote); !read) return read.error();
        auto text = at_.since(begin);
        text = text.substr(1, text.size() - 2);
        const Json parsed = quote == '"' ? Json::parse(at_.since(begin), nullptr, false) : Json();
        path.push_back(parsed.is_string() ? parsed.get<std::string>() : std::string(text));
      } else {
        while (!at_.done() && is_bare(at_.peek())) at_.advance();
        if (at_.at() == begin) return at_.wrong("expected a key");
        path.emplace_back(at_.since(begin));
      }
      at_.skip(kBlanks);
    } while (at_.take("."));
    return path;
  }

  Status value(int depth) {
    if (depth > kDeepest) return at_.wrong("nested too deeply");
    if (at_.peek() == '"' || at_.peek() == '\'') {
      const std::string quotes(3, at_.peek());
      return at_.next_is(quotes) ? long_string(quotes) : string(at_.peek());
    }
    if (at_.peek() == '[') return array(depth);
    if (at_.peek() == '{') return inline_table(depth);
    return scalar();
  }

  Status scalar() {
    const auto begin = at_.at();
    const auto word = [&] {
      while (!at_.done() && (is_bare(at_.peek()) ||
                             std::string_view("+.:").find(at_.peek()) != std::string_view::npos))
        at_.advance();
    };
    word();
    // "1979-05-27 07:32:00"
    const auto rest = at_.text().substr(std::min(at_.at(), at_.text().size()));
    if (at_.since(begin).size() == 10 && rest.size() > 3 && rest[0] == ' ' && rest[3] == ':') {
      at_.advance();
      word();
    }
    if (is_scalar(std::string(at_.since(begin)))) return {};
    return at_.wrong(at_.at() == begin
                         ? std::string("expected a value")
                         : fmt::format("{} is not a value; text needs quotes", at_.since(begin)),
                     begin);
  }

  Status escape() {
    at_.advance();
    const char kind = at_.peek();
    if (std::string_view("btnfr\"\\").find(kind) != std::string_view::npos && kind != '\0') {
      at_.advance();
      return {};
    }
    const int digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0) return at_.wrong("an unknown escape");
    at_.advance();
    for (int i = 0; i < digits; ++i, at_.advance())
      if (std::isxdigit(static_cast<unsigned char>(at_.peek())) == 0)
        return at_.wrong(fmt::format("expected {} hexadecimal digits", digits));
    return {};
  }

  Status string(char quote) {
    const auto begin = at_.at();
    at_.advance();
    while (!at_.done() && at_.peek() != quote) {
      const auto c = static_cast<unsigned char>(at_.peek());
      if (c == '\n') return at_.wrong("a string that does not end", begin);
      if ((c < 0x20 && c != '\t') || c == 0x7F) return at_.wrong("a control character");
      if (quote == '"' && c == '\\') {
        if (auto read = escape(); !read) return read;
      } else {
        at_.advance();
      }
    }
    if (!at_.take(std::string_view(&quote, 1)))
      return at_.wrong("a string that does not end", begin);
    return {};
  }

  Status long_string(const std::string& quotes) {
    const auto begin = at_.at();
    at_.advance(3);
    while (!at_.done() && !at_.next_is(quotes)) {
      if (quotes[0] != '"' || at_.peek() != '\\') {
        at_.advance();
        continue;
      }
      // A backslash that ends a line.
      const auto after = at_.text().find_first_not_of(" \t\r", at_.at() + 1);
      if (after != std::string_view::npos && at_.text()[after] == '\n')
        at_.advance(after - at_.at());
      else if (auto read = escape(); !read)
        return read;
    }
    if (!at_.take(quotes)) return at_.wrong("a string that does not end", begin);
    at_.take(quotes.substr(0, 1));  // up to two quotes may end its text
    at_.take(quotes.substr(0, 1));
    return {};
  }

  /// Blanks, line ends and comments within an array.
  void skip() {
    at_.skip(" \t\r\n");
    while (at_.peek() == '#') {
      at_.skip_line();
      at_.skip(" \t\r\n");
    }
  }

  Status array(int depth) {
    const auto begin = at_.at();
    at_.advance();
    for (skip(); !at_.take("]"); skip()) {
      if (at_.done()) return at_.wrong("a list that does not end", begin);
      if (auto read = value(depth + 1); !read) return read;
      skip();
      if (!at_.take(",") && at_.peek() != ']') return at_.wrong("expected , or ]");
    }
    return {};
  }

  Status inline_table(int depth) {
    at_.advance();
    at_.skip(kBlanks);
    if (at_.take("}")) return {};
    do {
      if (auto path = key(); !path) return path.error();
      if (!at_.take("=")) return at_.wrong("expected =");
      at_.skip(kBlanks);
      if (auto read = value(depth + 1); !read) return read;
      at_.skip(kBlanks);
    } while (at_.take(","));
    if (!at_.take("}")) return at_.wrong("expected , or } on the same line");
    return {};
  }

  Cursor at_;
  std::vector<std::string> table_;
  std::vector<std::vector<std::string>> arrays_;
  std::set<std::vector<std::string>> seen_;
  std::vector<TomlStatement> statements_;
};

}  // namespace

bool TomlStatement::within(const std::vector<std::string>& table) const {
  return path.size() >= table.size() && std::equal(table.begin(), table.end(), path.begin());
}

Result<std::vector<TomlStatement>> read_toml(std::string_view text) {
  return Reader(text).document();
}

}  // namespace ratchet::setup
