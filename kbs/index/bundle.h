#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kbs/documents/code_parts.h"
#include "kbs/documents/document.h"
#include "kbs/documents/records.h"

namespace ratchet::kbs {

/// One file of code, ready for the index: its section of a diff, or a source file.
struct CodeFile {
  Scope scope = Scope::snapshots;  ///< diffs or snapshots
  std::string path;                ///< of the file that holds it, relative to the corpus root
  int line = 1;                    ///< of its first line there
  std::string source_path;         ///< in its own repository
  std::string language;
  std::string text;
  std::string digest;                 ///< SHA-256 of the text, in hex
  std::string trigrams, frame;        ///< prefilter and compressed text
  std::vector<CodePart> parts;        ///< cover the text
  std::vector<std::uint64_t> hashes;  ///< of the parts' texts
  /// What the index holds of a part whose text it does not hold yet; the writer names the part,
  /// `find_terms` fills the rest.
  struct Terms {
    std::size_t part = 0;
    std::string name, body;
    std::size_t count = 0;
  };
  std::vector<Terms> fresh;
};

/// The evidence of one pull request, blog or case: its code and where it comes from.
struct Bundle {
  std::string id;    ///< vllm-123, capsule-flashmla
  std::string page;  ///< id of the page it belongs to; may be absent from the corpus
  std::string path;  ///< of its folder, relative to the corpus root
  std::string repo, title, url, date, license;
  std::vector<std::string> tags;
  std::vector<ArchitectureLabel> architectures;
  std::vector<CodeFile> files;
  std::optional<Record> record;  ///< description of the pull request, from upstream.json
  std::string digest;            ///< of everything above
};

}  // namespace ratchet::kbs
