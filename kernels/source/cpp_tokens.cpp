#include "kernels/source/cpp_tokens.h"

#include <cctype>
#include <optional>
#include <utility>

#include "kernels/source/cpp_condition.h"

namespace ratchet {
namespace {

/// Names may contain letters of any script; all bytes of those have the high bit set.
bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & '\x80') != 0;
}
bool continues_word(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) || starts_word(c);
}

/// A backslash before a line end removes both from the text.
std::string spliced(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\' && i + 1 < source.size() && source[i + 1] == '\n') {
      ++i;
    } else if (source[i] == '\\' && source.substr(i, 3) == "\\\r\n") {
      i += 2;
    } else {
      out += source[i];
    }
  }
  return out;
}

/// Which branch of an `#if` is being read.
struct Branch {
  bool reading = true;  ///< this branch is active
  bool taken = true;    ///< some branch was already active
  bool outer = true;    ///< the surrounding text is active
};

class Lexer {
 public:
  Lexer(std::string text, Macros predefined) : text_(std::move(text)) {
    source_.macros = std::move(predefined);
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  TokenizedSource run() {
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_start = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (skip_comment()) {
        continue;
      } else if (c == '#' && line_start) {
        directive();
      } else {
        line_start = false;
        if (auto token = next(); token && reading()) source_.tokens.push_back(*std::move(token));
      }
    }
    return std::move(source_);
  }

 private:
  [[nodiscard]] bool reading() const { return branches_.empty() || branches_.back().reading; }

  bool skip_comment() {
    if (text_.compare(at_, 2, "//") == 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return true;
    }
    if (text_.compare(at_, 2, "/*") != 0) return false;
    const auto end = text_.find("*/", at_ + 2);
    at_ = end == std::string::npos ? text_.size() : end + 2;
    return true;
  }

  /// The tokens up to the end of the line. The text of inactive branches may not be C++.
  std::vector<Token> rest_of_line() {
    std::vector<Token> tokens;
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (!skip_comment()) {
        if (auto token = next()) tokens.push_back(*std::move(token));
      }
    }
    return tokens;
  }

  void directive() {
    ++at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const auto begin = at_;
    while (at_ < text_.size() && continues_word(text_[at_])) ++at_;
    const auto name = text_.substr(begin, at_ - begin);
    if (name == "define") {
      define();
      return;
    }
    const auto words = rest_of_line();
    if (name.starts_with("if")) {
      const bool counts = reading() && holds(name, words);
      branches_.push_back({counts, counts, reading()});
    } else if (name.starts_with("el") && !branches_.empty()) {
      auto& branch = branches_.back();
      branch.reading = branch.outer && !branch.taken && holds(name, words);
      branch.taken = branch.taken || branch.reading;
    } else if (name == "endif" && !branches_.empty()) {
      branches_.pop_back();
    } else if (name == "undef" && !words.empty() && reading()) {
      source_.macros.erase(words[0].text);
    }
  }

  [[nodiscard]] bool holds(std::string_view name, const std::vector<Token>& words) const {
    if (name == "else") return true;
    if (name == "if" || name == "elif") return condition_holds(words, source_.macros);
    const bool defined = !words.empty() && source_.macros.contains(words[0].text);
    return defined == name.ends_with("fdef");
  }

  void define() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const auto begin = at_;
    while (at_ < text_.size() && continues_word(text_[at_])) ++at_;
    const auto name = text_.substr(begin, at_ - begin);
    const bool function_like = at_ < text_.size() && text_[at_] == '(';
    auto body = rest_of_line();
    if (!function_like && !name.empty() && reading()) source_.macros[name] = std::move(body);
  }

  std::optional<Token> next() {
    const char c = text_[at_];
    if (auto raw = raw_string()) return raw;
    if (starts_word(c)) return word();
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (c == '"' || c == '\'') return quoted(c);
    for (const std::string_view two : {"::", "->", "[[", "]]"})
      if (text_.compare(at_, 2, two) == 0) return piece(Token::Kind::punctuation, 2);
    return piece(Token::Kind::punctuation, 1);
  }

  Token piece(Token::Kind kind, std::size_t length) {
    Token token{kind, text_.substr(at_, length)};
    at_ += token.text.size();
    return token;
  }

  Token word() {
    auto end = at_;
    while (end < text_.size() && continues_word(text_[end])) ++end;
    return piece(Token::Kind::identifier, end - at_);
  }

  Token number() {
    auto end = at_;
    while (end < text_.size() &&
           (continues_word(text_[end]) || text_[end] == '.' ||
            (text_[end] == '\'' && end + 1 < text_.size() && continues_word(text_[end + 1]))))
      ++end;
    return piece(Token::Kind::number, end - at_);
  }

  Token quoted(char quote) {
    auto end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
      end += text_[end] == '\\' ? 2 : 1;
    return piece(Token::Kind::string, std::min(end + 1, text_.size()) - at_);
  }

  std::optional<Token> raw_string() {
    for (const std::string_view prefix : {"R\"", "LR\"", "uR\"", "UR\"", "u8R\""}) {
      if (text_.compare(at_, prefix.size(), prefix) != 0) continue;
      const auto open = text_.find('(', at_);
      if (open == std::string::npos || open - at_ > prefix.size() + 16) return std::nullopt;
      const auto begin = at_ + prefix.size();
      const auto closing = ")" + text_.substr(begin, open - begin) + "\"";
      const auto end = text_.find(closing, open);
      const auto stop = end == std::string::npos ? text_.size() : end + closing.size();
      return piece(Token::Kind::string, stop - at_);
    }
    return std::nullopt;
  }

  std::string text_;
  std::size_t at_ = 0;
  std::vector<Branch> branches_;
  TokenizedSource source_;
};

}  // namespace

TokenizedSource tokenize(std::string_view source, Macros predefined) {
  return Lexer(spliced(source), std::move(predefined)).run();
}

std::string join(const std::vector<Token>& tokens) {
  std::string text;
  for (const auto& token : tokens) {
    const bool both_words =
        !text.empty() && continues_word(text.back()) && continues_word(token.text.front());
    const bool after_star = !text.empty() && (text.back() == '*' || text.back() == ',') &&
                            continues_word(token.text.front());
    if (both_words || after_star) text += ' ';
    text += token.text;
  }
  return text;
}

}  // namespace ratchet
