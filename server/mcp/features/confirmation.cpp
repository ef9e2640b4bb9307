#include "server/mcp/features/confirmation.h"

namespace ratchet::mcp {

Json confirmation_form(std::string_view question) {
  return {
      {"message", question},
      {"requestedSchema",
       {{"type", "object"},
        {"properties",
         {{"confirm", {{"type", "boolean"}, {"title", "Confirm"}, {"description", "Go ahead?"}}}}},
        {"required", {"confirm"}}}}};
}

Consent consent_of(const Json& answer) {
  const auto member = [](const Json& object, const char* name) {
    return object.is_object() ? object.value(name, Json()) : Json();
  };
  const bool granted = member(answer, "action") == Json("accept") &&
                       member(member(answer, "content"), "confirm") == Json(true);
  return granted ? Consent::granted : Consent::refused;
}

}  // namespace ratchet::mcp
