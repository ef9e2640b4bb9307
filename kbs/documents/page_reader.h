#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kbs/documents/document.h"
#include "server/core/fields.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// A Markdown text split at the end of its YAML header. Views into the original text.
struct PageParts {
  std::string_view header;  ///< YAML without its `---` lines; empty when there is none
  std::string_view body;
  int body_line = 1;  ///< line of the first byte of `body`, counted from 1
};

/// Never fails: a text whose header is missing or not closed is all body. Accepts CRLF.
[[nodiscard]] PageParts split_page(std::string_view text);

/// Reads one page: the header's fields with normalized labels, and metrics with their line numbers.
///
/// `path` is relative to the corpus root and determines the scope (`sources/prs/…`, `wiki/…`).
/// Errors: `invalid_argument` naming the problem: not UTF-8, no `id` in the header, invalid YAML.
[[nodiscard]] Result<Document> read_page(std::string_view path, std::string text);

/// The languages of files that are pages themselves: a header in comments, one empty line, code.
[[nodiscard]] bool is_code_page(std::string_view path, std::string_view first_line);

/// A file of code with its header in line comments as the Markdown page that `read_page` takes: the
/// header without comment signs, the code in a fence that begins in the empty line after it. Every
/// line keeps its number. Errors: `invalid_argument` when header or empty line are missing.
[[nodiscard]] Result<std::string> page_of_code(std::string_view path, std::string_view text);

/// A YAML header as JSON; quoted scalars stay strings. Errors: `invalid_argument` for invalid YAML,
/// also beyond the limits of `load_yaml`.
[[nodiscard]] Result<Json> header_json(std::string_view header);

/// A word that users may write and a term to search for as well.
struct Alias {
  std::string word;
  std::string replacement;
};

/// Reads a vocabulary. Entries under `aliases` (word: [replacements]) work in one direction; in a
/// file that is only a map of lists (canonical: [variants]), every member of a list stands for
/// every other. Errors: as above; `too_large` for more pairs of words than fit into 4 MiB.
[[nodiscard]] Result<std::vector<Alias>> read_vocabulary(std::string_view yaml);

/// The Markdown headings of a body, one per line.
[[nodiscard]] std::string headings_of(std::string_view body);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace ratchet::kbs
