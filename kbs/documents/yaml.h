#pragma once

#include <yaml-cpp/yaml.h>

#include <string_view>

namespace ratchet::kbs {

/// Parses YAML of strangers. With every alias written out, it may take 2 MiB and 64 levels at most:
/// a few hundred bytes could otherwise stand for gigabytes. That is known before a node is made, so
/// readers may walk the nodes freely.
/// Throws `YAML::Exception` for invalid YAML, text that is not UTF-8, and beyond the limits.
[[nodiscard]] YAML::Node load_yaml(std::string_view text);

}  // namespace ratchet::kbs
