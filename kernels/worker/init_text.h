#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// `init` as the server wrote it: a word and up to two numbers. The word is part of the text given.
struct InitText {
  std::string_view kind;
  std::vector<double> numbers;
};

/// Empty for text that the server does not write. Pure, as all here.
[[nodiscard]] std::optional<InitText> parse_init_text(std::string_view text);

/// What a `normal` input is drawn from.
struct Normal {
  double mean = 0;
  double deviation = 1;
};

/// Under one of the distributions of generate.h. Errors: `invalid_argument` for another name.
[[nodiscard]] Result<Normal> normal_of(std::string_view distribution, DType type);

}  // namespace ratchet::worker
