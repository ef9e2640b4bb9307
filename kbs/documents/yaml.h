#pragma once

#include <yaml-cpp/yaml.h>

#include <string_view>

#include "server/core/field.h"

namespace ratchet::kbs {

/// Parses YAML of strangers. With every alias written out, it may take 2 MiB and 64 levels at most:
/// a few hundred bytes could otherwise stand for gigabytes. That is known before a node is made, so
/// readers may walk the nodes freely.
/// Throws `YAML::Exception` for invalid YAML, text that is not UTF-8, and beyond the limits.
[[nodiscard]] YAML::Node load_yaml(std::string_view text);

/// Numbers and booleans as such, quoted or other scalars as strings; of a key that is there twice
/// the last.
[[nodiscard]] Json to_json(const YAML::Node& node);

}  // namespace ratchet::kbs
