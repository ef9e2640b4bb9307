#pragma once

#include <string_view>

#include "server/core/call_context.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

/// `params` of an `elicitation/create` that asks a yes-or-no question.
[[nodiscard]] Json confirmation_form(std::string_view question);

/// What its answer means. Anything but an explicit yes is a no.
[[nodiscard]] Consent consent_of(const Json& answer);

}  // namespace ratchet::mcp
