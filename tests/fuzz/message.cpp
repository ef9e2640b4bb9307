// Every text decodes to a message or to an error with a JSON-RPC code; every answer is one line of
// JSON.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/mcp/message/message.h"

using ratchet::Json;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_text(const std::string& text) {
  require(text.find('\n') == std::string::npos);
  require(!Json::parse(text, nullptr, false).is_discarded());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto decoded = ratchet::mcp::decode_message(text);
  if (const auto* malformed = std::get_if<ratchet::mcp::Malformed>(&decoded)) {
    const int code = malformed->error.code;
    require(code == ratchet::mcp::code::kParseError || code == ratchet::mcp::code::kInvalidRequest);
    check_text(ratchet::mcp::error_text(malformed->id, malformed->error));
    return 0;
  }
  const auto& message = std::get<ratchet::mcp::Message>(decoded);
  require(message.id.is_null() || message.id.is_string() || message.id.is_number_integer());
  require(message.params.is_null() || message.params.is_object());
  check_text(ratchet::mcp::result_text(message.id, {{"echo", message.params}}));
  return 0;
}
