#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// A parsed `init`: a word and up to two numbers. `kind` refers into the parsed text.
struct InitText {
  std::string_view kind;
  std::vector<double> numbers;
};

/// Empty for malformed text. Pure, like everything here.
[[nodiscard]] std::optional<InitText> parse_init_text(std::string_view text);

/// Parameters of a `normal` input.
struct Normal {
  double mean = 0;
  double deviation = 1;
};

/// Parameters under one of the distributions of generate.h. Errors: `invalid_argument` for any
/// other name.
[[nodiscard]] Result<Normal> normal_of(std::string_view distribution, DType type);

}  // namespace ratchet::worker
