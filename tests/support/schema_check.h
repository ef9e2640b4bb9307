#pragma once

#include <string>

#include "server/core/fields.h"

namespace ratchet::test {

/// The first place of a value that does not follow a schema as `schema_of` writes it, and why;
/// empty if all of it does. A number may be null, for one that is not finite. Pure; a keyword that
/// it does not know is a violation, too.
[[nodiscard]] std::string violation(const Json& schema, const Json& value,
                                    const std::string& place = "");

}  // namespace ratchet::test
