#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kbs/corpus/bundle_reader.h"
#include "kbs/documents/document.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// A file of a corpus and a stamp of its size and times. The stamp is empty for a file so young
/// that another change could leave it the same.
struct ListedFile {
  std::filesystem::path path;  ///< relative to the corpus root
  std::string stamp;
};

struct ListedBundle {
  BundleFolder folder;
  std::string stamp;  ///< of all its files; empty when one of theirs is
};

/// What lies in a corpus folder, sorted by path.
struct CorpusListing {
  std::filesystem::path given;  ///< the folder, resolved
  std::filesystem::path root;   ///< it, or `knowledge/` in it
  bool plain = false;  ///< Markdown needs no header: no `wiki/` or `sources/`, or no page has one
  std::vector<ListedFile> pages, json_records, vocabularies;
  std::vector<std::filesystem::path> records;  ///< `*.jsonl`, `*.jsonl.zst`; absolute
  std::vector<ListedBundle> bundles;
};

/// Walks the folder without reading more than a few bytes of a few pages. Symbolic links that lead
/// out of it go to `problems`, hidden files are passed over.
/// Errors: `not_found` when it is no folder.
Result<CorpusListing> list_corpus(const std::filesystem::path& folder,
                                  std::vector<Problem>& problems);

}  // namespace ratchet::kbs
