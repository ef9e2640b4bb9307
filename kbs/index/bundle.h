#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kbs/documents/code_parts.h"
#include "kbs/documents/document.h"
#include "kbs/documents/records.h"

namespace ratchet::kbs {

/// One file of code, ready to be indexed: a source file, or its section of a diff.
struct CodeFile {
  Scope scope = Scope::snapshots;  ///< diffs or snapshots
  std::string path;                ///< of the containing file, relative to the corpus root
  int line = 1;                    ///< number of its first line in that file
  std::string source_path;         ///< path in its own repository
  std::string language;
  std::string text;
  std::string digest;                 ///< SHA-256 of the text, in hex
  std::string trigrams, frame;        ///< prefilter and compressed text
  std::vector<CodePart> parts;        ///< cover the text
  std::vector<std::uint64_t> hashes;  ///< of the texts of the parts
  /// Index terms of a part whose text is not in the index yet. The writer sets `part`; `find_terms`
  /// sets the rest.
  struct Terms {
    std::size_t part = 0;
    std::string name, body;
    std::size_t count = 0;
  };
  std::vector<Terms> fresh;
};

/// The evidence of one pull request, blog or case: its code and its origin.
struct Bundle {
  std::string id;    ///< vllm-123, capsule-flashmla
  std::string page;  ///< id of the page it belongs to; the corpus may lack that page
  std::string path;  ///< of its folder, relative to the corpus root
  std::string repo, title, url, date, license;
  std::vector<std::string> tags;
  std::vector<ArchitectureLabel> architectures;
  std::vector<CodeFile> files;
  std::optional<Record> record;  ///< description of the pull request, from upstream.json
  std::string digest;            ///< of everything above
};

}  // namespace ratchet::kbs
