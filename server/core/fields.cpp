#include "server/core/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>

namespace ratchet {

Place Place::field(std::string_view name) const {
  return {path.empty() ? std::string(name) : fmt::format("{}.{}", path, name), strictness};
}

Place Place::element(std::size_t index) const {
  return {fmt::format("{}[{}]", path, index), strictness};
}

Result<VersionId> Codec<VersionId>::decode(const Json& json, const Place& place, const Rules&) {
  const auto refuse = [&] {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: must be a version such as \"v0\" or \"v12\", got {}", place.path,
                             json.dump()),
                 "run_status lists the versions of a run."};
  };
  if (!json.is_string()) return refuse();
  const auto& text = json.get_ref<const std::string&>();
  // "v08" is refused: it is not the name of any version and sorts wrongly.
  if (text.size() < 2 || text[0] != 'v' || (text[1] == '0' && text.size() > 2)) return refuse();
  VersionId id;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data() + 1, end, id.number);
  if (code != std::errc{} || stop != end || id.number < 0) return refuse();
  return id;
}

namespace fields_detail {
namespace {

constexpr std::size_t kShownBytes = 120;

std::string shown(const Json& value) {
  auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "…";
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string named(const Place& place) {
  return place.path.empty() ? "arguments" : place.path;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substituted}));
    }
  }
  return row.back();
}

}  // namespace

Error wrong_type(const Place& place, std::string_view expected, const Json& seen) {
  return {ErrorCode::invalid_argument,
          fmt::format("{}: must be {}, got {}", named(place), expected, shown(seen)), ""};
}

Error out_of_range(const Place& place, const Rules& rules, const std::string& seen) {
  std::string rule = "must be in the range of its type";
  if (std::isfinite(rules.min) && std::isfinite(rules.max))
    rule = fmt::format("must be between {} and {}", rules.min, rules.max);
  else if (std::isfinite(rules.min))
    rule = fmt::format("must be at least {}", rules.min);
  else if (std::isfinite(rules.max))
    rule = fmt::format("must be at most {}", rules.max);
  return {ErrorCode::invalid_argument, fmt::format("{}: {}, got {}", named(place), rule, seen), ""};
}

Error too_long(const Place& place, std::size_t limit, std::size_t seen) {
  return {ErrorCode::too_large,
          fmt::format("{}: must be at most {} long, got {}", named(place), limit, seen), ""};
}

Error unknown_value(const Place& place, const std::vector<std::string>& accepted,
                    const std::string& seen) {
  return {ErrorCode::invalid_argument,
          fmt::format("{}: must be one of {}, got {}", named(place), joined(accepted), shown(seen)),
          ""};
}

Error missing(const Place& place, std::string_view name, std::string_view description) {
  return {ErrorCode::invalid_argument,
          fmt::format("{}: is required and was not given", place.field(name).path),
          std::string(description)};
}

Error unknown_key(const Place& place, const std::string& key,
                  const std::vector<std::string>& accepted) {
  std::string nearest;
  std::size_t best = std::max<std::size_t>(3, key.size() / 2);
  for (const auto& name : accepted) {
    const auto distance = edit_distance(key, name);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return {ErrorCode::invalid_argument,
          fmt::format("{}: is not a known field", place.field(key.substr(0, kShownBytes)).path),
          nearest.empty()
              ? "Known fields: " + joined(accepted) + "."
              : fmt::format("Did you mean {}? Known fields: {}.", nearest, joined(accepted))};
}

void add_bounds(Json& schema, const Rules& rules, bool integer) {
  const auto bound = [integer](double value) {
    return integer ? Json(static_cast<std::int64_t>(value)) : Json(value);
  };
  if (std::isfinite(rules.min)) schema["minimum"] = bound(rules.min);
  if (std::isfinite(rules.max)) schema["maximum"] = bound(rules.max);
}

}  // namespace fields_detail
}  // namespace ratchet
