#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "kbs/index/index_writer.h"
#include "server/core/result.h"

namespace ratchet::kbs {

struct ImportOptions {
  std::filesystem::path root;  ///< a knowledge folder, or one that contains `knowledge/`
  std::string_view corpus;     ///< name of the corpus in the index
  std::string_view license;    ///< for pages that state none; empty: unknown
  std::function<void(int done, int total)> progress;  ///< called every 200 items
  std::stop_token stop;
};

struct ImportReport {
  WriteCounts counts;
  int documents = 0;  ///< pages and records in the corpus now
  int bundles = 0;    ///< bundles of code in the corpus now
  std::vector<Problem> problems;
};

/// Reads everything below the root into a corpus of the writer: pages with a YAML header, joined by
/// id with the records of `*.jsonl` files; bundles of code with their descriptions; records without
/// a page; JSON records below `records/`; plain Markdown if no page has a header; and the spelling
/// variants in `data/aliases.yaml` or `vocabulary.yaml`. Unchanged input is not read again.
///
/// Input that cannot be read is reported with path and reason, and skipped. Files outside the root
/// are never read, not even through symbolic links. Reads on worker threads, writes on the caller's
/// thread.
/// Errors: `not_found` for the root, `timed_out` when stopped, those of the writer.
Result<ImportReport> import_folder(const ImportOptions& options, IndexWriter& writer);

}  // namespace ratchet::kbs
