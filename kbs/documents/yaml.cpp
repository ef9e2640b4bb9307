#include "kbs/documents/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kbs/documents/page_reader.h"
#include "server/core/fields.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kMostBytes = std::size_t{2} << 20U;
constexpr std::size_t kMostLevels = 64;
constexpr std::size_t kNodeBytes = 16;  // what a value takes besides its text, at least

/// Builds the document, and sums up what it takes with its aliases written out before they are.
class Builder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    take(mark, anchor, {.kind = Kind::null, .line = mark.line});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    // The parser writes these two as one byte each.
    if (!is_utf8(value))
      throw YAML::ParserException(
          mark, R"("\N" and "\_" are not read; write the character, or "\u0085" and "\u00a0")");
    take(mark, anchor,
         {.kind = Kind::scalar, .quoted = tag == "!", .line = mark.line, .text = value});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) throw YAML::ParserException(mark, "an alias contains itself");
    if (known->second.levels + open_.size() > kMostLevels) throw too_deep(mark);
    note_levels(known->second.levels);
    add(mark, known->second.bytes);
    put(known->second.node);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor, Kind::sequence);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor, Kind::map);
  }
  void OnMapEnd() override { end(); }

  YamlNode take_document() { return std::move(document_); }

 private:
  using Kind = YamlNode::Kind;
  struct Known {
    std::size_t bytes = 0;
    std::size_t levels = 0;
    YamlNode node;
  };
  struct Open {
    YamlNode node;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    std::size_t before = 0;  ///< bytes taken when it began
    std::size_t levels = 1;
  };

  static YAML::ParserException too_deep(const YAML::Mark& mark) {
    return {mark, fmt::format("values are nested deeper than {} levels", kMostLevels)};
  }

  void add(const YAML::Mark& mark, std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > kMostBytes)
      throw YAML::ParserException(
          mark, fmt::format("up to here it takes more than {} MiB with its aliases written out; "
                            "shorten it, or repeat less",
                            kMostBytes >> 20U));
  }
  void note_levels(std::size_t levels) {
    if (!open_.empty()) open_.back().levels = std::max(open_.back().levels, levels + 1);
  }
  void take(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode node) {
    const auto bytes = kNodeBytes + node.text.size();
    add(mark, bytes);
    if (anchor != 0) keep(mark, anchor, {bytes, 0, node});
    put(std::move(node));
  }
  void begin(const YAML::Mark& mark, YAML::anchor_t anchor, Kind kind) {
    if (open_.size() >= kMostLevels) throw too_deep(mark);
    open_.push_back({{.kind = kind, .line = mark.line}, mark, anchor, bytes_, 1});
    add(mark, kNodeBytes);
  }
  void end() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    note_levels(closed.levels);
    if (closed.anchor != 0)
      keep(closed.mark, closed.anchor, {bytes_ - closed.before, closed.levels, closed.node});
    put(std::move(closed.node));
  }
  /// A value within another is kept with each of them that has an anchor.
  void keep(const YAML::Mark& mark, YAML::anchor_t anchor, Known known) {
    kept_ += known.bytes;
    if (kept_ > kMostBytes)
      throw YAML::ParserException(
          mark, fmt::format("the values with anchors take more than {} MiB; give fewer of them one",
                            kMostBytes >> 20U));
    anchors_[anchor] = std::move(known);
  }
  /// Into the innermost open value; keys and values of a map take turns.
  void put(YamlNode node) {
    if (open_.empty()) {
      document_ = std::move(node);
      return;
    }
    auto& parent = open_.back().node;
    if (parent.is_map() && parent.keys.size() == parent.items.size())
      parent.keys.push_back(std::move(node.text));
    else
      parent.items.push_back(std::move(node));
  }

  std::size_t bytes_ = 0;
  std::size_t kept_ = 0;  ///< bytes of all values with an anchor
  YamlNode document_{.kind = Kind::null};
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Known> anchors_;
};

}  // namespace

const YamlNode& YamlNode::operator[](std::string_view key) const {
  static const YamlNode kAbsent;
  const auto found = std::ranges::find(keys, key);
  return found != keys.end() ? items[static_cast<std::size_t>(found - keys.begin())] : kAbsent;
}

YamlNode load_yaml(std::string_view text) {
  // The parser would guess UTF-16 or UTF-32 from NUL bytes, and pass on what is no character.
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos)
    throw YAML::ParserException(YAML::Mark::null_mark(), "not UTF-8 text without NUL bytes");
  std::istringstream in{std::string(text)};
  Builder builder;
  YAML::Parser(in).HandleNextDocument(builder);
  return builder.take_document();
}

Json to_json(const YamlNode& node) {
  if (node.is_map()) {
    Json out = Json::object();
    for (std::size_t i = 0; i < node.keys.size(); ++i) out[node.keys[i]] = to_json(node.items[i]);
    return out;
  }
  if (node.is_sequence()) {
    Json out = Json::array();
    for (const auto& item : node.items) out.push_back(to_json(item));
    return out;
  }
  if (!node.is_scalar()) return Json(nullptr);
  if (node.quoted) return Json(node.text);
  auto typed = Json::parse(node.text, nullptr, false);
  return typed.is_number() || typed.is_boolean() ? typed : Json(node.text);
}

}  // namespace ratchet::kbs
