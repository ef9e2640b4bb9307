#pragma once

#include <string_view>
#include <vector>

#include "server/facts/types.h"

namespace ratchet {

/// What a name of an implementation, or a package's alias of one, may mean: by itself the first,
/// beside a file the first that such a file can hold. In any case of letters. Empty: `auto`, or no
/// such name. Pure.
[[nodiscard]] std::vector<Implementation> implementations_named(std::string_view name);

}  // namespace ratchet
