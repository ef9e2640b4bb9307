#pragma once

#include <string_view>
#include <vector>

namespace ratchet {

/// The name that `word` is most likely a misspelling of; empty if none is close. Pure.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string_view>& names);

}  // namespace ratchet
