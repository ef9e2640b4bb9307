#pragma once

#include <string>
#include <string_view>

namespace ratchet::kbs {

/// A bitmap of the trigrams (lower case) of a document, for `grep` to skip documents that cannot
/// match: a set bit may lie, a clear bit never does. About a tenth of the text; pure functions.
[[nodiscard]] std::string trigram_filter(std::string_view text, std::string_view more);

/// False only when `literal` (lower case) certainly does not occur. Literals under three bytes:
/// true.
[[nodiscard]] bool may_contain(std::string_view filter, std::string_view literal);

}  // namespace ratchet::kbs
