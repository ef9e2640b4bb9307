#include "server/setup/json_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "server/core/text.h"
#include "server/setup/scanner.h"

namespace ratchet::setup::json_config {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr int kDeepest = 200;

struct Member;

/// A value and where it stands. Only objects keep what is in them.
struct Node {
  bool is_object = false;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Member> members;
};

struct Member {
  std::string key;
  std::size_t begin = 0;  ///< of the key
  Node value;
  std::optional<std::size_t> comma;  ///< after the value
};

class Reader {
 public:
  Reader(std::string_view text, Comments comments) : at_(text), comments_(comments) {}

  Result<Node> document() {
    at_.take(kByteOrderMark);
    if (auto skipped = skip(); !skipped) return skipped.error();
    auto node = value(0);
    if (!node) return node;
    if (auto skipped = skip(); !skipped) return skipped.error();
    if (!at_.done()) return at_.wrong("expected the end of the file");
    if (!node->is_object) return at_.wrong("expected an object, { … }", node->begin);
    return node;
  }

 private:
  Status skip() {
    while (true) {
      at_.skip(kBlanks);
      const bool line = at_.next_is("//");
      if (!line && !at_.next_is("/*")) return {};
      if (comments_ == Comments::refused)
        return at_.wrong("a comment; this client reads JSON without comments");
      const auto begin = at_.at();
      at_.advance(2);
      if (line) {
        at_.skip_line();
        continue;
      }
      while (!at_.done() && !at_.next_is("*/")) at_.advance();
      if (!at_.take("*/")) return at_.wrong("a comment that does not end", begin);
    }
  }

  Result<Node> value(int depth) {
    if (depth > kDeepest) return at_.wrong("nested too deeply");
    if (at_.peek() == '{') return object(depth);
    if (at_.peek() == '[') return array(depth);
    Node node{.begin = at_.at()};
    if (at_.peek() == '"') {
      auto text = string();
      if (!text) return text.error();
    } else {
      while (!at_.done() && (std::isalnum(static_cast<unsigned char>(at_.peek())) != 0 ||
                             std::string_view("+-.").find(at_.peek()) != std::string_view::npos))
        at_.advance();
      const auto token = at_.since(node.begin);
      if (token.empty()) return at_.wrong("expected a value");
      if (!Json::accept(token))
        return at_.wrong(fmt::format("{} is not a value", token), node.begin);
    }
    node.end = at_.at();
    return node;
  }

  Result<std::string> string() {
    const auto begin = at_.at();
    at_.advance();
    while (!at_.done() && at_.peek() != '"' && at_.peek() != '\n')
      at_.advance(at_.peek() == '\\' ? 2 : 1);
    if (!at_.take("\"")) return at_.wrong("a string that does not end", begin);
    const Json parsed = Json::parse(at_.since(begin), nullptr, false);
    if (!parsed.is_string()) return at_.wrong("not a valid string", begin);
    return parsed.get<std::string>();
  }

  /// After an element: whether another may follow; notes the comma.
  Result<bool> goes_on(char close, std::optional<std::size_t>& comma) {
    if (auto skipped = skip(); !skipped) return skipped.error();
    const auto place = at_.at();
    if (!at_.take(",")) {
      if (at_.peek() == close) return false;
      return at_.wrong(fmt::format("expected , or {}", close));
    }
    comma = place;
    if (auto skipped = skip(); !skipped) return skipped.error();
    if (at_.peek() != close) return true;
    if (comments_ == Comments::kept) return false;
    return at_.wrong("a comma with nothing after it", place);
  }

  Result<Node> object(int depth) {
    Node node{.is_object = true, .begin = at_.at()};
    at_.advance();
    if (auto skipped = skip(); !skipped) return skipped.error();
    bool more = at_.peek() != '}';
    while (more) {
      auto one = member(depth);
      if (!one) return one.error();
      if (std::ranges::find(node.members, one->key, &Member::key) != node.members.end())
        return at_.wrong(fmt::format("\"{}\" stands here a second time", one->key), one->begin);
      auto next = goes_on('}', one->comma);
      if (!next) return next.error();
      node.members.push_back(*std::move(one));
      more = *next;
    }
    if (!at_.take("}")) return at_.wrong("an object that does not end", node.begin);
    node.end = at_.at();
    return node;
  }

  Result<Member> member(int depth) {
    Member one{.begin = at_.at()};
    if (at_.peek() != '"') return at_.wrong("expected a name in quotes");
    auto key = string();
    if (!key) return key.error();
    one.key = *std::move(key);
    if (auto skipped = skip(); !skipped) return skipped.error();
    if (!at_.take(":")) return at_.wrong("expected :");
    if (auto skipped = skip(); !skipped) return skipped.error();
    auto inner = value(depth + 1);
    if (!inner) return inner.error();
    one.value = *std::move(inner);
    return one;
  }

  Result<Node> array(int depth) {
    Node node{.begin = at_.at()};
    at_.advance();
    if (auto skipped = skip(); !skipped) return skipped.error();
    bool more = at_.peek() != ']';
    while (more) {
      auto inner = value(depth + 1);
      if (!inner) return inner;
      std::optional<std::size_t> comma;
      auto next = goes_on(']', comma);
      if (!next) return next.error();
      more = *next;
    }
    if (!at_.take("]")) return at_.wrong("a list that does not end", node.begin);
    node.end = at_.at();
    return node;
  }

  Cursor at_;
  Comments comments_;
};

const Member* find(const Node& node, std::string_view key) {
  const auto found = std::ranges::find(node.members, key, &Member::key);
  return found == node.members.end() ? nullptr : &*found;
}

/// The document and its container, which is null when it is missing.
struct Servers {
  Node document;
  const Member* container = nullptr;
};

Status locate(Servers& servers, Comments comments, std::string_view text, std::string_view name) {
  auto document = Reader(text, comments).document();
  if (!document) return document.error();
  servers.document = *std::move(document);
  servers.container = find(servers.document, name);
  if (servers.container != nullptr && !servers.container->value.is_object)
    return Cursor(text).wrong(fmt::format("\"{}\" is not an object", name),
                              servers.container->value.begin);
  return {};
}

std::string_view blanks_before(std::string_view text, std::size_t at) {
  const auto begin = line_begin(text, at);
  const auto end = text.find_first_not_of(" \t", begin);
  return text.substr(begin, std::min(end, at) - begin);
}

/// `value` over several lines, each after the first indented by `margin` more.
std::string pretty(const Json& value, std::string_view margin, std::string_view unit) {
  const bool tab = unit.starts_with('\t');
  std::string out;
  for (const char c : value.dump(static_cast<int>(tab ? 1 : unit.size()), tab ? '\t' : ' ')) {
    out += c;
    if (c == '\n') out += margin;
  }
  return out;
}

/// Where a new first member goes: after `{`, and after a comment that ends its line.
std::size_t first_place(std::string_view text, const Node& node) {
  const auto begin = node.begin + 1;
  const auto word = text.find_first_not_of(" \t", begin);
  if (word == std::string_view::npos) return begin;
  const auto end = std::min(text.find('\n', word), text.size());
  const auto rest = text.substr(word, end - word);
  if (rest.starts_with("//")) return rest.ends_with('\r') ? end - 1 : end;
  const auto close = rest.find("*/");
  if (rest.starts_with("/*") && close != std::string_view::npos &&
      rest.find_first_not_of(" \t\r", close + 2) == std::string_view::npos)
    return word + close + 2;
  return begin;
}

/// Adds a first member to an object, in the manner of the members that it has.
Insertion first_member(std::string_view text, const Node& node, const std::string& key,
                       const Json& value) {
  const auto quoted = Json(key).dump();
  const auto at = first_place(text, node);
  const std::string_view margin = blanks_before(text, node.begin);
  std::string unit = text.find("\n\t") != std::string_view::npos ? "\t" : "  ";
  std::string indent = std::string(margin) + unit;
  std::string after;
  if (node.members.empty()) {
    const auto next = text.find_first_not_of(" \t", at);
    if (next != std::string_view::npos && text[next] == '}') after = "\n" + std::string(margin);
  } else {
    const auto first = node.members.front().begin;
    if (text.substr(node.begin, first - node.begin).find('\n') == std::string_view::npos)
      return {at, quoted + ": " + value.dump() + ", "};
    indent = blanks_before(text, first);
    if (indent.size() > margin.size() && indent.starts_with(margin))
      unit = indent.substr(margin.size());
    after = ",";
  }
  const std::string all = "\n" + indent + quoted + ": " + pretty(value, indent, unit) + after;
  return {at, with_line_ends(all, line_end_of(text))};
}

/// Takes a member out, with the blanks before it and the comma that it needed.
std::string without(std::string_view text, const Node& node, const Member& member) {
  const auto last = text.find_last_not_of(kBlanks, member.begin - 1);
  std::string out(text.substr(0, last + 1));
  if (member.comma) {
    out += text.substr(*member.comma + 1);
    return out;
  }
  out += text.substr(member.value.end);
  if (&member != &node.members.front()) out.erase(*(&member - 1)->comma, 1);
  return out;
}

}  // namespace

Result<std::optional<std::string>> entry_in(Comments comments, std::string_view text,
                                            std::string_view container, const std::string& name) {
  if (trimmed(text).empty()) return std::optional<std::string>{};
  Servers servers;
  if (auto located = locate(servers, comments, text, container); !located) return located.error();
  const Member* entry =
      servers.container == nullptr ? nullptr : find(servers.container->value, name);
  if (entry == nullptr) return std::optional<std::string>{};
  return std::optional(
      std::string(text.substr(entry->value.begin, entry->value.end - entry->value.begin)));
}

Result<Insertion> insertion_into(Comments comments, std::string_view text,
                                 std::string_view container, const std::string& name,
                                 const Json& entry) {
  const Json whole{{std::string(container), {{name, entry}}}};
  if (trimmed(text).empty()) return Insertion{text.size(), whole.dump(2) + "\n"};
  Servers servers;
  if (auto located = locate(servers, comments, text, container); !located) return located.error();
  if (servers.container != nullptr)
    return first_member(text, servers.container->value, name, entry);
  return first_member(text, servers.document, std::string(container), Json{{name, entry}});
}

Result<std::string> removed_from(Comments comments, std::string_view text,
                                 std::string_view container, const std::string& name,
                                 bool container_too) {
  Servers servers;
  if (auto located = locate(servers, comments, text, container); !located) return located.error();
  const Member* entry =
      servers.container == nullptr ? nullptr : find(servers.container->value, name);
  if (entry == nullptr) return std::string(text);
  const bool alone = servers.container->value.members.size() == 1;
  return container_too && alone ? without(text, servers.document, *servers.container)
                                : without(text, servers.container->value, *entry);
}

bool holds_nothing(Comments comments, std::string_view text, std::string_view container) {
  if (trimmed(text).empty()) return true;
  Servers servers;
  if (!locate(servers, comments, text, container)) return false;
  const auto& all = servers.document.members;
  return all.empty() || (all.size() == 1 && servers.container != nullptr &&
                         servers.container->value.members.empty());
}

}  // namespace ratchet::setup::json_config
