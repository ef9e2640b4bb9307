#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbs/documents/code_parts.h"
#include "kbs/documents/document.h"
#include "kbs/index/index_database.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// A file of code as stored in the index, with the metadata of its bundle.
struct StoredCode {
  std::string id;  ///< diff-vllm-12-3: the third file of the bundle's diff
  std::string corpus, page, repo, title, url, date, license, architectures;
  Scope scope = Scope::diffs;
  std::string path;  ///< of the containing file, relative to the corpus root
  int line = 1;      ///< number of its first line in that file
  std::string source_path, language, digest, text;
  std::vector<CodePart> parts;
};

/// SQL of `read_code`; parameter 1 is the row of the file.
inline constexpr std::string_view kReadCode =
    "SELECT bundle.id, file.ordinal, corpus, page, repo, title, url, date, license, architectures, "
    "scope, path, line, source_path, language, file.digest, file.text FROM file JOIN bundle ON "
    "bundle.rowid=file.bundle WHERE file.rowid=?";

/// Reads a file with a statement prepared from `kReadCode`.
/// Errors: `not_found`; `internal` for a damaged text.
Result<StoredCode> read_code(Statement& statement, std::int64_t file);

/// The parts of a file's text, in the order in which the index numbers them.
[[nodiscard]] std::vector<CodePart> parts_of(Scope scope, std::string_view text,
                                             std::string_view source_path);

/// What the id of a file of code refers to: `diff-<bundle>-<file>` or `snap-<bundle>-<file>`, with
/// the suffix `.<part>` for one of its parts. Numbers count from 1.
struct CodeId {
  Scope scope = Scope::diffs;
  std::string bundle;
  int file = 0;
  int part = 0;  ///< 0: the whole file
};
[[nodiscard]] std::string code_id(Scope scope, std::string_view bundle, std::int64_t file);
[[nodiscard]] std::optional<CodeId> parse_code_id(std::string_view id);

}  // namespace ratchet::kbs
