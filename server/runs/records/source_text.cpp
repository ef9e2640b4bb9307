#include "server/runs/records/source_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace ratchet {
namespace {

/// Copies a source without its comments and white space; literals are kept.
class Stripper {
 public:
  Stripper(std::string_view text, bool python) : text_(text), python_(python) {}

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool next_is(std::string_view token) const {
    return text_.substr(at_, token.size()) == token;
  }

  void step() {
    if (python_ ? next_is("#") : next_is("//")) return skip_line();
    if (!python_ && next_is("/*")) return skip_past("*/");
    if (!python_ && next_is("R\"")) return keep_raw_string();
    if (python_ && (next_is("\"\"\"") || next_is("'''")))
      return keep_past(std::string(text_.substr(at_, 3)), 3);
    const char c = text_[at_];
    if (c == '"' || (c == '\'' && (python_ || !follows_digit()))) return keep_literal(c);
    if (std::isspace(static_cast<unsigned char>(c)) == 0) out_ += c;
    ++at_;
  }

  /// In C++ a quote after a digit is a digit separator: 1'000.
  [[nodiscard]] bool follows_digit() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }

  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_past(std::string_view end) {
    const auto found = text_.find(end, at_ + 2);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  void keep_past(std::string_view end, std::size_t opening) {
    const auto found = text_.find(end, at_ + opening);
    const auto stop = found == std::string_view::npos ? text_.size() : found + end.size();
    out_ += text_.substr(at_, stop - at_);
    at_ = stop;
  }

  void keep_raw_string() {
    const auto open = text_.find('(', at_);
    if (open == std::string_view::npos) return keep_past("\"", 2);
    const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    keep_past(end, open + 1 - at_);
  }

  void keep_literal(char quote) {
    auto stop = at_ + 1;
    while (stop < text_.size() && text_[stop] != quote && text_[stop] != '\n')
      stop += text_[stop] == '\\' ? 2 : 1;
    stop = std::min(stop + 1, text_.size());
    out_ += text_.substr(at_, stop - at_);
    at_ = stop;
  }

  std::string_view text_;
  bool python_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string stripped_source(std::string_view text, bool python) {
  return Stripper(text, python).run();
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
