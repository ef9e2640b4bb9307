#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "kbs/index_writer.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Called now and then with documents done and in all.
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
  int documents = 0;  ///< in the corpus now
  std::vector<Problem> problems;
};

/// Reads every page below the root into the writer's corpus: pages with a YAML header, joined by id
/// with the records of `*.jsonl` files; records without a page; plain Markdown in folders that hold
/// neither `wiki/` nor `sources/`; and the spelling variants of `data/aliases.yaml` or
/// `vocabulary.yaml`.
///
/// A page or record that cannot be read is reported with path and reason and skipped. Files outside
/// the root, also through symbolic links, are never read.
/// Errors: `not_found` for the root, `timed_out` when stopped, what the writer says.
Result<ImportReport> import_folder(const ImportOptions& options, IndexWriter& writer);

}  // namespace ratchet::kbs
