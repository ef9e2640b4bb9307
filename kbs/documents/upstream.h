#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"

namespace ratchet::kbs {

/// What an `upstream.json` says of its pull request. Names, addresses and faces of people are left
/// out.
struct Upstream {
  std::string title, body, merged_at;
  std::vector<std::string> labels;
};

/// Reads the answer of the GitHub API under `pull`, or a flat record. Only what is wanted is read:
/// the rest of a long answer is not looked at, so that damage behind it goes unnoticed.
/// Errors: `invalid_argument` for text that is no JSON up to there.
[[nodiscard]] Result<Upstream> read_upstream(std::string_view json);

}  // namespace ratchet::kbs
