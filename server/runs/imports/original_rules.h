#pragma once

// The rules of kernel-opt-agent's own gate for a tree of versions: files, headings, order.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/facts/findings.h"

namespace ratchet::original {

/// The nine headings of hypothesis.txt and the six of kbs_evidence.md, in order.
[[nodiscard]] const std::vector<std::string_view>& hypothesis_headings();
[[nodiscard]] const std::vector<std::string_view>& evidence_headings();

/// The first heading that is not on a line of its own after the previous ones; empty if all are.
[[nodiscard]] std::optional<std::string> missing_heading(
    std::string_view text, const std::vector<std::string_view>& headings);

/// 12 for "v12" with the prefix "v"; empty for other names.
[[nodiscard]] std::optional<int> number_after(const std::string& name, std::string_view prefix);

/// The kernel of a version folder: kernel.py, kernel.cu or kernel.cpp, otherwise the only other
/// source file that is not a reference. Empty if there is none, or several.
[[nodiscard]] std::optional<std::filesystem::path> kernel_of(const std::filesystem::path& folder);

/// All findings of that gate for a final check of v0 … v`last`: missing or empty files, headings,
/// unchanged kernels, later versions, the state file.
[[nodiscard]] std::vector<Reason> check_tree(const std::filesystem::path& folder, int last);

}  // namespace ratchet::original
