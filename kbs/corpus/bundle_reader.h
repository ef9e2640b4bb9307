#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kbs/documents/document.h"
#include "kbs/index/bundle.h"

namespace ratchet::kbs {

/// A bundle's folder and the files in it, as a listing found them.
struct BundleFolder {
  std::filesystem::path path;                ///< relative to the corpus root
  std::vector<std::filesystem::path> files;  ///< relative to the bundle, sorted
};

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
