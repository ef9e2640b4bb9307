#include "server/runs/records/source_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ratchet {
namespace {

/// Splits a source into literals, single characters, and comments and white space, which do not
/// count.
class Scanner {
 public:
  struct Part {
    std::string_view text;
    bool counts = true;
  };

  Scanner(std::string_view text, bool python) : text_(text), python_(python) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  Part next() {
    const auto begin = at_;
    const bool counts = step();
    return {text_.substr(begin, at_ - begin), counts};
  }

 private:
  [[nodiscard]] bool next_is(std::string_view token) const {
    return text_.substr(at_, token.size()) == token;
  }

  bool step() {
    if (python_ ? next_is("#") : next_is("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return false;
    }
    if (!python_ && next_is("/*")) {
      go_past("*/", 2);
      return false;
    }
    const char c = text_[at_];
    if (!python_ && next_is("R\""))
      go_past_raw_string();
    else if (python_ && (next_is("\"\"\"") || next_is("'''")))
      go_past(text_.substr(at_, 3), 3);
    else if (c == '"' || (c == '\'' && (python_ || !follows_digit())))
      go_past_literal(c);
    else
      ++at_;
    return std::isspace(static_cast<unsigned char>(c)) == 0;
  }

  /// In C++ a quote after a digit is a digit separator: 1'000.
  [[nodiscard]] bool follows_digit() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }

  void go_past(std::string_view end, std::size_t opening) {
    const auto found = text_.find(end, at_ + opening);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  void go_past_raw_string() {
    const auto open = text_.find('(', at_);
    if (open == std::string_view::npos) return go_past("\"", 2);
    const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    go_past(end, open + 1 - at_);
  }

  void go_past_literal(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  bool python_;
  std::size_t at_ = 0;
};

struct Token {
  std::string text;
  bool name = false;
  bool starts_line = false;
};

/// Names, numbers, literals and single characters, without comments and white space.
std::vector<Token> tokens_of(std::string_view text, bool python) {
  std::vector<Token> tokens;
  bool line = true;
  bool in_word = false;
  for (Scanner source(text, python); !source.at_end();) {
    const auto part = source.next();
    const auto first = static_cast<unsigned char>(part.text.front());
    const bool goes_on =
        std::exchange(in_word, part.text.size() == 1 && (std::isalnum(first) != 0 || first == '_'));
    if (!part.counts)
      line = line || part.text.find('\n') != std::string_view::npos;
    else if (in_word && goes_on)
      tokens.back().text += part.text;
    else
      tokens.push_back({std::string(part.text), in_word && std::isdigit(first) == 0,
                        std::exchange(line, false)});
  }
  return tokens;
}

bool is_one_of(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

/// The names that a C++ source declares: a type or macro directive before them, and behind them
/// what may follow a declared name.
std::set<std::string> declared_in_cpp(const std::vector<Token>& tokens) {
  std::set<std::string> names;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].name) continue;
    const auto& before = tokens[i - 1];
    const auto& behind = tokens[i + 1].text;
    if (before.text == "define") {
      names.insert(tokens[i].text);
      continue;
    }
    const bool pointer =
        is_one_of(before.text, {"*", "&"}) && i > 1 &&
        (is_one_of(tokens[i - 2].text, {"float", "double", "int", "char", "void", "auto", "half",
                                        "bool", "long", "short", "unsigned", "const"}) ||
         tokens[i - 2].text.ends_with("_t"));
    const bool type =
        before.name && !is_one_of(before.text, {"return", "else", "case", "goto", "new", "delete",
                                                "throw", "using", "ifdef", "ifndef", "if", "elif",
                                                "defined", "undef", "pragma", "operator"});
    if ((pointer || type) && is_one_of(behind, {"=", ";", ",", ")", "[", "(", "{", ":"}))
      names.insert(tokens[i].text);
  }
  return names;
}

/// The names that a Python source assigns or defines.
std::set<std::string> declared_in_python(const std::vector<Token>& tokens) {
  std::set<std::string> names;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].name) continue;
    const bool assigned = tokens[i].starts_line && tokens[i + 1].text == "=" &&
                          (i + 2 == tokens.size() || tokens[i + 2].text != "=");
    const bool defined = i > 0 && is_one_of(tokens[i - 1].text, {"def", "class", "as"});
    const bool counted = i > 0 && tokens[i - 1].text == "for" && tokens[i + 1].text == "in";
    if (assigned || defined || counted) names.insert(tokens[i].text);
    if (!defined || tokens[i - 1].text != "def" || tokens[i + 1].text != "(") continue;
    for (auto p = i + 2; p + 1 < tokens.size() && tokens[p].text != ")"; ++p)
      if (tokens[p].name && is_one_of(tokens[p - 1].text, {"(", ",", "*"}))
        names.insert(tokens[p].text);
  }
  return names;
}

}  // namespace

bool same_but_for_names(std::string_view a, std::string_view b, bool python) {
  const auto left = tokens_of(a, python);
  const auto right = tokens_of(b, python);
  if (left.size() != right.size()) return false;
  const auto declared = python ? declared_in_python : declared_in_cpp;
  const auto of_left = declared(left);
  const auto of_right = declared(right);
  std::map<std::string, std::string> there, back;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto& one = left[i].text;
    const auto& other = right[i].text;
    if (!left[i].name || !right[i].name) {
      if (one != other) return false;
      continue;
    }
    if (one != other && (!of_left.contains(one) || !of_right.contains(other))) return false;
    // One name always stands for the same other one.
    if (there.emplace(one, other).first->second != other) return false;
    if (back.emplace(other, one).first->second != one) return false;
  }
  return true;
}

std::string stripped_source(std::string_view text, bool python) {
  std::string kept;
  for (Scanner source(text, python); !source.at_end();)
    if (const auto part = source.next(); part.counts) kept += part.text;
  return kept;
}

std::string kernel_file_name(Implementation implementation) {
  if (is_python(implementation)) return "kernel.py";
  return implementation == Implementation::host_cpp ? "kernel.cpp" : "kernel.cu";
}

std::string reference_file_name(ReferenceKind kind) {
  switch (kind) {
    case ReferenceKind::cpp:
      return "ref.cpp";
    case ReferenceKind::cuda:
      return "ref.cu";
    case ReferenceKind::python:
      return "ref.py";
  }
  return "ref.py";
}

bool has_fitting_suffix(std::string_view file_name, Implementation implementation) {
  const auto suffix = std::filesystem::path(file_name).extension().string();
  if (suffix.empty()) return true;
  if (is_python(implementation)) return suffix == ".py";
  if (implementation != Implementation::host_cpp) return suffix == ".cu";
  constexpr std::array<std::string_view, 4> kHost{".cpp", ".cc", ".cxx", ".c++"};
  return std::ranges::find(kHost, suffix) != kHost.end();
}

}  // namespace ratchet
