#pragma once

#include <optional>
#include <string>

#include "server/core/result.h"
#include "server/core/roots.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

/// The file name for a kernel given as text; its suffix selects the language.
[[nodiscard]] std::string kernel_name_for(const std::optional<std::string>& implementation);

/// Reads the source that an argument names or contains. `field` is the argument's name in messages.
/// A path must lie inside `roots`; text gets the file name `default_name`.
/// Errors: `invalid_argument` unless exactly one of path and text is given; `not_permitted`,
/// `not_found` and `too_large` for paths.
[[nodiscard]] Result<Source> read_source(const SourceArg& argument, const std::string& field,
                                         const std::string& default_name, const Roots& roots);

}  // namespace ratchet
