#include "kbs/documents/upstream.h"

#include <algorithm>
#include <cstdint>

#include "server/core/fields.h"
#include "server/core/text.h"

namespace ratchet::kbs {
namespace {

/// True for lines that only say who wrote or approved something.
bool names_people(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t>*");
  if (begin == std::string_view::npos) return false;
  const std::string start = lowered(line.substr(begin, 16));
  return start.starts_with("signed-off-by") || start.starts_with("co-authored-by") ||
         start.starts_with("reviewed-by:") || start.starts_with("cc @") ||
         start.starts_with("cc: @");
}

std::string without_people(std::string_view body) {
  std::string out;
  for (const auto line : lines_of(body))
    if (!names_people(line)) out.append(line).push_back('\n');
  return out;
}

/// Collects the wanted values during parsing and stops after the last one.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  Upstream upstream;
  bool complete = false;  ///< parsing was stopped because all values were found

  bool null() override { return value(""); }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool string(std::string& text) override { return value(text); }

  bool start_object(std::size_t) override { return ++depth_ <= kMaxDepth; }
  bool key(std::string& name) override {
    if (depth_ == 1) inside_pull_ = name == "pull";
    if (level() == 1) key_ = name;
    inner_key_ = name;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return ++depth_ <= kMaxDepth; }
  bool end_array() override {
    --depth_;
    if (level() == 1 && key_ == "labels") seen_ |= 8U;
    return !done();
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  static constexpr int kMaxDepth = 100;
  static constexpr std::size_t kMaxLabels = 1000;

  /// Nesting depth within the pull request: 1 for its own fields.
  [[nodiscard]] int level() const { return inside_pull_ ? depth_ - 1 : depth_; }

  bool value(std::string_view text) {
    if (level() == 1) {
      if (key_ == "title") take(upstream.title, text, 1U);
      if (key_ == "body") take(upstream.body, text, 2U);
      if (key_ == "body_excerpt" && upstream.body.empty()) upstream.body = text;
      if (key_ == "merged_at") take(upstream.merged_at, text, 4U);
    } else if (key_ == "labels" && (inner_key_ == "name" || level() == 2)) {
      if (upstream.labels.size() < kMaxLabels) upstream.labels.emplace_back(text);
    }
    return !done();
  }

  void take(std::string& to, std::string_view text, unsigned bit) {
    to = text;
    seen_ |= bit;
  }

  bool done() {
    complete = seen_ == 15U;
    return complete;
  }

  int depth_ = 0;
  bool inside_pull_ = false;
  unsigned seen_ = 0;
  std::string key_, inner_key_;
};

}  // namespace

Result<Upstream> read_upstream(std::string_view json) {
  Reader reader;
  if (!Json::sax_parse(json.begin(), json.end(), &reader) && !reader.complete)
    return invalid_argument("not JSON, or truncated");
  auto& upstream = reader.upstream;
  upstream.body = without_people(upstream.body);
  std::erase(upstream.body, '\0');
  return std::move(upstream);
}

}  // namespace ratchet::kbs
