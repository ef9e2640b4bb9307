#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"

namespace ratchet::kbs {

/// The contents of an `upstream.json` about its pull request. Names, addresses and avatars of
/// people are dropped.
struct Upstream {
  std::string title, body, merged_at;
  std::vector<std::string> labels;
};

/// Reads a GitHub API response stored under `pull`, or a flat record. Parsing stops once all wanted
/// fields are read, so damage after that point is not noticed.
/// Errors: `invalid_argument` when the text up to that point is not JSON.
[[nodiscard]] Result<Upstream> read_upstream(std::string_view json);

}  // namespace ratchet::kbs
