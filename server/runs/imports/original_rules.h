#pragma once

// The rules by which kernel-opt-agent's own gate reads a tree of versions: files, headings, order.
// Pure but for `check_tree`, which reads.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/facts/findings.h"

namespace ratchet::original {

/// Nine of hypothesis.txt; six of kbs_evidence.md.
[[nodiscard]] const std::vector<std::string_view>& hypothesis_headings();
[[nodiscard]] const std::vector<std::string_view>& evidence_headings();

/// The first heading that does not stand alone on a line after those before it; empty: all do.
[[nodiscard]] std::optional<std::string> missing_heading(
    std::string_view text, const std::vector<std::string_view>& headings);

/// 12 for "v12" with the prefix "v"; empty for other names.
[[nodiscard]] std::optional<int> number_after(const std::string& name, std::string_view prefix);

/// The kernel of a version folder: kernel.py, else kernel.cu, else kernel.cpp, else the only source
/// there that is no reference. Empty when there is none or several.
[[nodiscard]] std::optional<std::filesystem::path> kernel_of(const std::filesystem::path& folder);

/// Everything that gate would say of v0 … v`last` as a final check: files present and not empty,
/// headings, kernels that differ from their predecessor's, no later versions, the state file.
[[nodiscard]] std::vector<Reason> check_tree(const std::filesystem::path& folder, int last);

}  // namespace ratchet::original
