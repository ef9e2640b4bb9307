#include "kbs/documents/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "kbs/documents/page_reader.h"
#include "server/core/fields.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kMostBytes = std::size_t{2} << 20U;
constexpr std::size_t kMostLevels = 64;
constexpr std::size_t kNodeBytes = 16;  // what a value takes besides its text, at least

/// Sums up what a document takes with its aliases written out, without writing them out.
class Gauge final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { take(mark, anchor, 0); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& value) override {
    // The parser writes these two as one byte each.
    if (!is_utf8(value))
      throw YAML::ParserException(
          mark, R"("\N" and "\_" are not read; write the character, or "\u0085" and "\u00a0")");
    take(mark, anchor, value.size());
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) throw YAML::ParserException(mark, "an alias contains itself");
    if (known->second.levels + open_.size() > kMostLevels) throw too_deep(mark);
    note_levels(known->second.levels);
    add(mark, known->second.bytes);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Size {
    std::size_t bytes = 0;
    std::size_t levels = 0;
  };
  struct Open {
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
  void take(const YAML::Mark& mark, YAML::anchor_t anchor, std::size_t bytes) {
    add(mark, kNodeBytes + bytes);
    if (anchor != 0) anchors_[anchor] = {kNodeBytes + bytes, 0};
  }
  void begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() >= kMostLevels) throw too_deep(mark);
    open_.push_back({anchor, bytes_, 1});
    add(mark, kNodeBytes);
  }
  void end() {
    const Open closed = open_.back();
    open_.pop_back();
    note_levels(closed.levels);
    if (closed.anchor != 0) anchors_[closed.anchor] = {bytes_ - closed.before, closed.levels};
  }

  std::size_t bytes_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Size> anchors_;
};

}  // namespace

YAML::Node load_yaml(std::string_view text) {
  // The parser would guess UTF-16 or UTF-32 from NUL bytes, and pass on what is no character.
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos)
    throw YAML::ParserException(YAML::Mark::null_mark(), "not UTF-8 text without NUL bytes");
  const std::string owned(text);
  std::istringstream in(owned);
  Gauge gauge;
  YAML::Parser(in).HandleNextDocument(gauge);
  return YAML::Load(owned);
}

Json to_json(const YAML::Node& node) {
  if (node.IsSequence() || node.IsMap()) {
    Json out = node.IsMap() ? Json::object() : Json::array();
    for (const auto& item : node) {
      if (node.IsMap())
        out[item.first.IsScalar() ? item.first.Scalar() : ""] = to_json(item.second);
      else
        out.push_back(to_json(item));
    }
    return out;
  }
  if (!node.IsScalar()) return Json(nullptr);
  if (node.Tag() == "!") return Json(node.Scalar());  // quoted, so always a string
  auto typed = Json::parse(node.Scalar(), nullptr, false);
  return typed.is_number() || typed.is_boolean() ? typed : Json(node.Scalar());
}

}  // namespace ratchet::kbs
