#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kbs/corpus/bundle_reader.h"
#include "kbs/documents/document.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// A file of a corpus with a stamp of its size and times. The stamp is empty for a file modified so
/// recently that another change might not alter it.
struct ListedFile {
  std::filesystem::path path;  ///< relative to the corpus root
  std::string stamp;
};

struct ListedBundle {
  BundleFolder folder;
  std::string stamp;  ///< of all its files; empty when the stamp of one of them is
};

/// The contents of a corpus folder, sorted by path.
struct CorpusListing {
  std::filesystem::path given;  ///< the folder, resolved
  std::filesystem::path root;   ///< the same folder, or `knowledge/` in it
  /// Pages need no header: there is no `wiki/` or `sources/`, or no page has a header.
  bool plain = false;
  std::vector<ListedFile> pages, json_records, vocabularies;
  std::vector<std::filesystem::path> records;  ///< `*.jsonl`, `*.jsonl.zst`; absolute
  std::vector<ListedBundle> bundles;
};

/// Walks the folder; reads only the headers of a few pages. Symbolic links that lead out of the
/// folder are reported in `problems`; hidden files are skipped. Errors: `not_found` when it is not
/// a folder.
Result<CorpusListing> list_corpus(const std::filesystem::path& folder,
                                  std::vector<Problem>& problems);

}  // namespace ratchet::kbs
