#pragma once

#include <string>

namespace ratchet::test {

/// The code block of a page (a path in the repository) that contains `phrase`, without its fences.
/// Throws if there is none.
[[nodiscard]] std::string block_with(const std::string& phrase,
                                     const std::string& of = "README.md");

}  // namespace ratchet::test
