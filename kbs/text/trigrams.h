#pragma once

#include <string>
#include <string_view>

namespace ratchet::kbs {

/// A Bloom filter over the lower-case trigrams of a document (`text` and `more` together), with
/// which `grep` skips documents that cannot match: it has false positives but no false negatives.
/// About a tenth of the size of the text. Pure.
[[nodiscard]] std::string trigram_filter(std::string_view text, std::string_view more);

/// False only when `literal` (lower case) cannot occur in the document. Always true for literals
/// shorter than three bytes. Pure.
[[nodiscard]] bool may_contain(std::string_view filter, std::string_view literal);

}  // namespace ratchet::kbs
