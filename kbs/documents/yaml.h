#pragma once

#include <yaml-cpp/exceptions.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/field.h"

namespace ratchet::kbs {

/// A value of a YAML document, its aliases written out.
class YamlNode {
 public:
  enum class Kind : std::uint8_t { absent, null, scalar, sequence, map };

  [[nodiscard]] bool is_map() const { return kind == Kind::map; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::sequence; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  explicit operator bool() const { return kind != Kind::absent; }

  /// The first value under a key of a map; an absent one if there is none.
  [[nodiscard]] const YamlNode& operator[](std::string_view key) const;

  Kind kind = Kind::absent;
  bool quoted = false;            ///< a scalar that is a string whatever it looks like
  int line = 0;                   ///< counted from 0
  std::string text;               ///< of a scalar
  std::vector<std::string> keys;  ///< of a map, in order; empty for one that is no scalar
  std::vector<YamlNode> items;    ///< of a sequence, or the values of a map
};

/// Parses YAML of strangers. With every alias written out, it may take 2 MiB and 64 levels at most:
/// a few hundred bytes could otherwise stand for gigabytes. That is known before an alias is
/// written out.
/// Throws `YAML::Exception` for invalid YAML, text that is not UTF-8, and beyond the limits.
[[nodiscard]] YamlNode load_yaml(std::string_view text);

/// Numbers and booleans as such, quoted or other scalars as strings; of a key that is there twice
/// the last.
[[nodiscard]] Json to_json(const YamlNode& node);

}  // namespace ratchet::kbs
