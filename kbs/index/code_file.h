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

/// A file of code as the index holds it, with what its bundle says.
struct StoredCode {
  std::string id;  ///< diff-vllm-12-3: third file of the bundle's diff
  std::string corpus, page, repo, title, url, date, license, architectures;
  Scope scope = Scope::diffs;
  std::string path;  ///< of the file that holds it, relative to the corpus root
  int line = 1;      ///< of its first line there
  std::string source_path, language, digest, text;
  std::vector<CodePart> parts;
};

/// Parameter 1 is the file's row.
inline constexpr std::string_view kReadCode =
    "SELECT bundle.id, file.ordinal, corpus, page, repo, title, url, date, license, architectures, "
    "scope, path, line, source_path, language, file.digest, file.text FROM file JOIN bundle ON "
    "bundle.rowid=file.bundle WHERE file.rowid=?";

/// Runs a statement of `kReadCode`. Errors: `not_found`; `internal` for a damaged text.
Result<StoredCode> read_code(Statement& statement, std::int64_t file);

/// The parts of a file's text, as they are numbered in the index.
[[nodiscard]] std::vector<CodePart> parts_of(Scope scope, std::string_view text,
                                             std::string_view source_path);

/// Tells parts with the same text from others.
[[nodiscard]] std::uint64_t hash_of_part(std::string_view text);

/// What an id of code names. `diff-<bundle>-<file>` or `snap-<bundle>-<file>`, and one part of it
/// with `.<part>` behind; numbers count from 1.
struct CodeId {
  Scope scope = Scope::diffs;
  std::string bundle;
  int file = 0;
  int part = 0;  ///< 0: the whole file
};
[[nodiscard]] std::string code_id(Scope scope, std::string_view bundle, std::int64_t file);
[[nodiscard]] std::optional<CodeId> parse_code_id(std::string_view id);

}  // namespace ratchet::kbs
