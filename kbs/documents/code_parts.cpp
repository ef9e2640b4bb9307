#include "kbs/documents/code_parts.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "server/core/text.h"

namespace ratchet::kbs {
namespace {

// Sizes of a part in bytes.
constexpr std::size_t kSmall = 200;      // a shorter one is merged with the next
constexpr std::size_t kLarge = 2'000;    // a longer one ends at the next blank line before code
constexpr std::size_t kLargest = 8'000;  // a longer one ends at the next line
constexpr std::size_t kMaxParts = 4'000;

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view name_at(std::string_view text, std::size_t begin) {
  auto end = begin;
  while (end < text.size() && is_name(text[end])) ++end;
  return text.substr(begin, end - begin);
}

std::string_view extension_of(std::string_view path) {
  const auto dot = path.rfind('.');
  const auto slash = path.rfind('/');
  if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash)) return {};
  return path.substr(dot + 1);
}

enum class Layout { python, braces, chapters, other };

Layout layout_of(std::string_view path) {
  const auto extension = extension_of(path);
  const auto one_of = [&](std::initializer_list<std::string_view> known) {
    return std::ranges::find(known, extension) != known.end();
  };
  if (one_of({"py", "pyx", "pyi"})) return Layout::python;
  if (one_of({"cu", "cuh", "h", "hpp", "hxx", "c", "cc", "cpp", "cxx", "inl", "mlir", "td", "hip",
              "rs", "java", "js", "ts", "groovy", "metal"}))
    return Layout::braces;
  if (one_of({"md", "mdx", "rst", "txt"})) return Layout::chapters;
  return Layout::other;
}

/// True for a trimmed line that belongs to the definition below it.
bool leads(std::string_view text, Layout layout) {
  if (layout == Layout::python) return text.starts_with('@') || text.starts_with('#');
  return starts_with_any(text, {"//", "/*", "*", "template", "[["});
}

bool defines_python(std::string_view line) {
  const auto indent = line.find_first_not_of(' ');
  if (indent != 0 && indent != 4) return false;
  return starts_with_any(line.substr(indent), {"def ", "class ", "async def ", "@"});
}

bool defines_braces(std::string_view line) {
  if (line.empty()) return false;
  if (line.starts_with("#define")) return true;
  const auto first = static_cast<unsigned char>(line.front());
  if (std::isalpha(first) == 0 && first != '_') return false;
  return !starts_with_any(line, {"namespace", "using", "public:", "private:", "protected:", "else",
                                 "case ", "return", "extern \"C\""});
}

bool defines(std::string_view line, Layout layout) {
  switch (layout) {
    case Layout::python:
      return defines_python(line);
    case Layout::braces:
      return defines_braces(line);
    case Layout::chapters:
      return line.starts_with('#');
    case Layout::other:
      return false;
  }
  return false;
}

/// The name before the first parenthesis, or after struct, class, enum, union or #define.
std::string_view name_of_braces(std::string_view line) {
  for (const std::string_view word : {"struct ", "class ", "enum ", "union ", "#define "}) {
    const auto at = line.find(word);
    if (at != 0 && (at == std::string_view::npos || is_name(line[at - 1]))) continue;
    auto name = name_at(line, line.find_first_not_of(' ', at + word.size()));
    if (name == "class") name = name_at(line, line.find_first_not_of(' ', at + 11));
    if (!name.empty()) return name;
  }
  for (auto open = line.find('('); open != std::string_view::npos;
       open = line.find('(', open + 1)) {
    auto end = open;
    while (end > 0 && line[end - 1] == ' ') --end;
    auto begin = end;
    while (begin > 0 && is_name(line[begin - 1])) --begin;
    const auto name = line.substr(begin, end - begin);
    const bool keyword = starts_with_any(name, {"__", "alignas", "decltype", "noexcept"}) ||
                         name == "if" || name == "volatile" || name == "for" || name == "while" ||
                         name == "switch";
    if (!name.empty() && !keyword) return name;
  }
  return {};
}

/// The name that a line gives its part. `owner` is the enclosing Python class; a line that begins
/// one updates it.
std::string name_of_line(std::string_view line, Layout layout, std::string& owner) {
  const auto text = trimmed(line);
  if (layout == Layout::chapters) {
    const auto at = text.find_first_not_of("# ");
    return text.starts_with('#') && at != std::string_view::npos ? std::string(text.substr(at))
                                                                 : std::string{};
  }
  if (layout != Layout::python)
    return leads(text, layout) || text.starts_with("#include") ? std::string{}
                                                               : std::string(name_of_braces(text));
  for (const std::string_view word : {"class ", "def ", "async def "}) {
    if (!text.starts_with(word)) continue;
    auto name = std::string(name_at(text, word.size()));
    const bool outer = !line.starts_with(' ');
    if (outer) owner = word == "class " ? name : std::string{};
    return outer || owner.empty() ? name : owner + "." + name;
  }
  return {};
}

/// Walks the lines of a text and decides where each part begins.
class Splitter {
 public:
  /// `sign`: every line begins with a diff marker (`+`, `-` or a space) that is not part of the
  /// code.
  Splitter(std::string_view text, Layout layout, bool sign)
      : text_(text), layout_(layout), sign_(sign) {}

  std::vector<CodePart> split() {
    int number = 1;
    for (std::size_t begin = 0; begin < text_.size(); ++number) {
      const auto end = std::min(text_.find('\n', begin), text_.size());
      visit(begin, text_.substr(begin, end - begin), number);
      begin = end + 1;
    }
    if (parts_.empty()) parts_.push_back({0, text_.size(), 1, ""});
    parts_.back().end = text_.size();
    return std::move(parts_);
  }

 private:
  struct Place {
    std::size_t begin = 0;
    int line = 1;
  };

  void visit(std::size_t begin, std::string_view line, int number) {
    if (parts_.empty()) parts_.push_back({0, 0, 1, ""});
    auto code = line;
    if (sign_ && !code.empty()) code.remove_prefix(1);
    const auto text = trimmed(code);
    const bool hunk = sign_ && line.starts_with("@@ ");
    const Place here = lead_ && !hunk ? *lead_ : Place{begin, number};
    // The lines above the first hunk only name the file, so that hunk does not begin a new part.
    const bool next_hunk = hunk && std::exchange(in_hunks_, true);
    if (next_hunk || starts_part(code, text, here.begin - parts_.back().begin)) cut(here);
    if (parts_.back().name.empty()) name_part(line, code, hunk);
    remember(code, text, {begin, number});
  }

  /// Here and below, `text` is `code` trimmed.
  [[nodiscard]] bool starts_part(std::string_view code, std::string_view text,
                                 std::size_t size) const {
    if (size >= kLargest) return true;
    if (size < kSmall || text.empty()) return false;
    if (after_lead_ && layout_ == Layout::python) return false;
    if (defines(code, layout_) && (layout_ != Layout::braces || after_gap_ || lead_)) return true;
    return size >= kLarge && after_blank_ && text.data() - code.data() <= 4 &&
           !leads(text, layout_);
  }

  void cut(Place place) {
    if (place.begin <= parts_.back().begin || parts_.size() >= kMaxParts) return;
    parts_.back().end = place.begin;
    parts_.push_back({place.begin, 0, place.line, ""});
  }

  void name_part(std::string_view line, std::string_view code, bool hunk) {
    if (hunk) {
      const auto context = line.find("@@", 2);
      if (context == std::string_view::npos) return;
      code = trimmed(line.substr(context + 2));
      if (code.empty()) return;
    }
    auto name = name_of_line(code, layout_, owner_);
    if (name.size() <= 100) parts_.back().name = std::move(name);
  }

  void remember(std::string_view code, std::string_view text, Place place) {
    const bool lead = leads(text, layout_) && !text.empty();
    if (lead && !lead_) lead_ = place;
    if (!lead) lead_.reset();
    after_lead_ = lead && text.starts_with('@');
    after_blank_ = text.empty();
    after_gap_ =
        text.empty() || code.starts_with('}') || code.starts_with('#') || text.ends_with(';');
  }

  std::string_view text_;
  Layout layout_;
  bool sign_;
  std::vector<CodePart> parts_;
  std::string owner_;
  std::optional<Place> lead_;  // first line of the comments that belong to what follows
  bool after_lead_ = false, after_blank_ = true, after_gap_ = true, in_hunks_ = false;
};

std::string path_of_section(std::string_view section) {
  std::string before;
  for (std::size_t begin = 0; begin < section.size();) {
    const auto end = std::min(section.find('\n', begin), section.size());
    auto line = section.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin = end + 1;
    if (line.starts_with("@@ ")) break;
    if (line.starts_with("+++ b/") || line.starts_with("--- a/")) {
      auto path = line.substr(6, line.find('\t') - 6);
      if (line.front() == '+') return std::string(path);
      before = path;
    }
    if (line.starts_with("rename to ")) return std::string(line.substr(10));
    if (line.starts_with("diff --git ") && before.empty())
      if (const auto at = line.rfind(" b/"); at != std::string_view::npos)
        before = line.substr(at + 3);
  }
  return before;
}

}  // namespace

std::vector<DiffSection> split_diff(std::string_view diff) {
  constexpr std::string_view kStart = "diff --git ";
  std::vector<DiffSection> sections;
  std::size_t open = std::string_view::npos;
  int line = 1;
  int opened = 1;
  const auto close = [&](std::size_t end) {
    if (open == std::string_view::npos) return;
    const auto text = diff.substr(open, end - open);
    sections.push_back({text, path_of_section(text), opened});
  };
  for (std::size_t begin = 0; begin < diff.size(); ++line) {
    if (diff.substr(begin, kStart.size()) == kStart) {
      close(begin);
      open = begin;
      opened = line;
    }
    begin = std::min(diff.find('\n', begin), diff.size()) + 1;
  }
  if (open == std::string_view::npos && !diff.empty()) open = 0;
  close(diff.size());
  return sections;
}

std::vector<CodePart> split_hunks(std::string_view section) {
  return Splitter(section, layout_of(path_of_section(section)), true).split();
}

std::vector<CodePart> split_definitions(std::string_view text, std::string_view path) {
  return Splitter(text, layout_of(path), false).split();
}

std::string language_of(std::string_view path, std::string_view text) {
  const auto extension = extension_of(path);
  const auto head = text.substr(0, 16'384);
  const auto says = [&](std::string_view word) {
    return head.find(word) != std::string_view::npos;
  };
  switch (layout_of(path)) {
    case Layout::python:
      if (says("tilelang")) return "tilelang";
      if (says("cutlass.cute") || says("cute.jit")) return "cute-dsl";
      if (says("pallas")) return "jax-pallas";
      return says("triton") ? "triton" : "python";
    case Layout::chapters:
      return "markdown";
    default:
      break;
  }
  if (extension == "cu" || extension == "cuh") return "cuda-cpp";
  for (const std::string_view known : {"h", "hpp", "hxx", "c", "cc", "cpp", "cxx", "inl"})
    if (extension == known)
      return says("__global__") || says("__device__") || says("CUTLASS_DEVICE") ? "cuda-cpp"
                                                                                : "cpp";
  return std::string(extension.substr(0, 20));
}

}  // namespace ratchet::kbs
