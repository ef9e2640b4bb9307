#pragma once

// The source tree, for tests of repository rules. Read-only; every path is relative to the root and
// written with '/'. Build output, version control and caches are not part of the tree.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::repo {

/// The root of the source tree.
[[nodiscard]] std::filesystem::path root();

/// All files, sorted.
[[nodiscard]] std::vector<std::string> files();

/// The files below `folder` (ends with '/'; "" is the root) whose name ends in one of `suffixes`.
[[nodiscard]] std::vector<std::string> files(std::string_view folder,
                                             const std::vector<std::string_view>& suffixes);

/// The bytes of one file; fails the running test if it cannot be read.
[[nodiscard]] std::string text_of(const std::string& path);

/// Its lines, without line ends.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& path);

/// Its lines without the contents of raw string literals, in which tests keep kernels.
[[nodiscard]] std::vector<std::string> code_lines_of(const std::string& path);

/// C++ that is compiled into our programs and tests; not kernels, which are data.
[[nodiscard]] std::vector<std::string> sources(const std::vector<std::string_view>& suffixes);

/// One line per item, for failure messages.
[[nodiscard]] std::string listed(const std::vector<std::string>& items);

}  // namespace ratchet::repo
