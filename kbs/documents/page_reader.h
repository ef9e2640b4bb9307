#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbs/documents/document.h"
#include "server/core/fields.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// A Markdown text cut at its YAML header. Views into the text given.
struct PageParts {
  std::string_view header;  ///< YAML without the fences; empty when there is none
  std::string_view body;
  int body_line = 1;  ///< line of the first byte of `body`, counted from 1
};

/// Never fails: a text without a closed header is all body. Accepts CRLF.
[[nodiscard]] PageParts split_page(std::string_view text);

/// Reads one page: header fields into the document, labels normalised, spec rows with their lines.
///
/// `path` is relative to the corpus root and decides the scope (`sources/prs/…`, `wiki/…`).
/// Errors: `invalid_argument` naming what is wrong: not UTF-8, no header id, broken YAML.
[[nodiscard]] Result<Document> read_page(std::string_view path, std::string text);

/// A header as JSON, for showing. Errors: `invalid_argument` for YAML that cannot be read.
[[nodiscard]] Result<Json> header_json(std::string_view header);

/// A word of the user's and what may stand for it as well.
struct Alias {
  std::string word;
  std::string replacement;
};

/// Reads a vocabulary. A map `aliases` (word: [replacements]) goes one way; a file that is nothing
/// but a map of lists (canonical: [variants]) makes every member stand for every other.
/// Errors: as above.
[[nodiscard]] Result<std::vector<Alias>> read_vocabulary(std::string_view yaml);

/// Markdown headings of a body, one per line.
[[nodiscard]] std::string headings_of(std::string_view body);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace ratchet::kbs
