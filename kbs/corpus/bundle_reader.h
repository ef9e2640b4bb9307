#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kbs/documents/document.h"
#include "kbs/index/bundle.h"

namespace ratchet::kbs {

/// A bundle's folder and the files in it.
struct BundleFolder {
  std::filesystem::path path;                ///< relative to the corpus root
  std::vector<std::filesystem::path> files;  ///< relative to the bundle, sorted
};

/// `<repository folder>/<number>` for the path of a pull request's bundle (`…/vllm/gh-12`,
/// `…/vllm/PR-12`) or page (`…/vllm/PR-12.md`); empty for any other path.
[[nodiscard]] std::string pull_request_key(const std::filesystem::path& path);

/// Reads a bundle in any known layout: `ORIGIN.yaml` in its three forms, `PROVENANCE.yaml` nested
/// or flat, a capsule's `MANIFEST.yaml`, or none of these; `review.diff`, `diff.patch`; sources
/// below `source-snapshot/`, `key-files/` or `code/`, or beside the provenance file;
/// `upstream.json` in both forms. Files that are missing or cannot be read are reported in
/// `problems`; the rest is read all the same. Thread-safe.
[[nodiscard]] Bundle read_bundle(const std::filesystem::path& root, const BundleFolder& folder,
                                 std::vector<Problem>& problems);

}  // namespace ratchet::kbs
