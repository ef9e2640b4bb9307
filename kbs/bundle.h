#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbs/code_parts.h"
#include "kbs/document.h"
#include "kbs/records.h"

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

/// A bundle's folder and the files in it, as a listing found them.
struct BundleFolder {
  std::filesystem::path path;                ///< relative to the corpus root
  std::vector<std::filesystem::path> files;  ///< relative to the bundle, sorted
};

/// True for the file names that make a folder a bundle.
[[nodiscard]] bool names_bundle(std::string_view file);

/// `<repository folder>/<number>` of a pull request's bundle (`…/vllm/gh-12`, `…/vllm/PR-12`) or
/// page (`…/vllm/PR-12.md`); empty for anything else.
[[nodiscard]] std::string pull_request_key(const std::filesystem::path& path);

/// Reads a bundle of any known layout: `ORIGIN.yaml` in its three shapes, `PROVENANCE.yaml` nested
/// or flat, `MANIFEST.yaml` of capsules, or none; `review.diff`, `diff.patch`; sources below
/// `source-snapshot/`, `key-files/`, `code/` or beside the provenance; `upstream.json` in both
/// shapes. What cannot be read or is missing goes to `problems`; the rest is read all the same.
/// Thread-safe.
[[nodiscard]] Bundle read_bundle(const std::filesystem::path& root, const BundleFolder& folder,
                                 std::vector<Problem>& problems);

}  // namespace ratchet::kbs
