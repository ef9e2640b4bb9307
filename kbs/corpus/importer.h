#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "kbs/index/index_writer.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Called now and then with jobs (pages, records, bundles) done and in all.
using ImportProgress = std::function<void(int done, int total)>;

struct ImportOptions {
  std::filesystem::path root;  ///< a knowledge folder, or one that holds `knowledge/`
  std::string_view corpus;     ///< its name in the index
  std::string_view license;    ///< of pages that state none; empty: unknown
  ImportProgress progress;
  std::stop_token stop;
};

struct ImportReport {
  WriteCounts counts;
  int documents = 0;  ///< pages and records in the corpus now
  int bundles = 0;    ///< bundles of code in the corpus now
  std::vector<Problem> problems;
};

/// Reads everything below the root into the writer's corpus: pages with a YAML header, joined by id
/// with the records of `*.jsonl` files; bundles of code with their descriptions; records without a
/// page; JSON records below `records/`; plain Markdown where no page has a header; and the spelling
/// variants of `data/aliases.yaml` or `vocabulary.yaml`. What has not changed since the last time
/// is not read again.
///
/// What cannot be read is reported with path and reason and skipped. Files outside the root, also
/// through symbolic links, are never read. Reads on other threads, writes on the caller's.
/// Errors: `not_found` for the root, `timed_out` when stopped, what the writer says.
Result<ImportReport> import_folder(const ImportOptions& options, IndexWriter& writer);

}  // namespace ratchet::kbs
