#pragma once

// The layer table: which folder may include what. Plain data and two pure functions over it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::repo {

/// What the sources of one folder may include in addition to their own folder, the standard
/// library, system headers, fmt and spdlog.
struct Layer {
  std::string_view folder;                  ///< ends with '/', or is the beginning of a file's path
  std::vector<std::string_view> ours;       ///< folders (end with '/') and single headers
  std::vector<std::string_view> libraries;  ///< names that `library_of` returns
};

/// Every folder with sources has exactly one layer: the one with the longest matching name.
[[nodiscard]] const std::vector<Layer>& layers();

/// The layer of a source file; empty when the table does not know its folder.
[[nodiscard]] std::optional<Layer> layer_of(std::string_view path);

/// The library of a `<header>`: "" for the standard library and the system, "unknown" for one that
/// is not in this table.
[[nodiscard]] std::string_view library_of(std::string_view header);

/// Whether CMake writes this header into the build tree.
[[nodiscard]] bool is_generated(std::string_view header);

/// Why `source` may not include `header` (with its quotes or angle brackets); empty when it may.
[[nodiscard]] std::optional<std::string> refusal(std::string_view source, std::string_view header);

}  // namespace ratchet::repo
