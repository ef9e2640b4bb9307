#pragma once

#include <string_view>

#include "server/core/call_context.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

/// `params` of an `elicitation/create` that asks for yes or no.
[[nodiscard]] Json confirmation_form(std::string_view question);

/// What its answer says. Anything but a plain yes is a no.
[[nodiscard]] Consent consent_of(const Json& answer);

}  // namespace ratchet::mcp
