// Every text decodes to a message or to an error with a JSON-RPC code; every answer is one line of
// JSON, and an accepted message, written out, decodes to itself.

#include "server/mcp/message/message.h"

#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

void check_line(const std::string& text) {
  require(text.find('\n') == std::string::npos, "an answer is one line");
  require(!Json::parse(text, nullptr, false).is_discarded(), "an answer is JSON");
}

void check_same(const mcp::Message& message, const std::string& written) {
  const auto again = mcp::decode_message(written);
  const auto* same = std::get_if<mcp::Message>(&again);
  require(same && same->id == message.id && same->method == message.method &&
              same->params == message.params,
          "a request that was accepted is accepted as written out, and means the same");
}

}  // namespace

void message(std::string_view bytes) {
  const auto decoded = mcp::decode_message(bytes);
  if (const auto* malformed = std::get_if<mcp::Malformed>(&decoded)) {
    const int code = malformed->error.code;
    require(code == mcp::code::kParseError || code == mcp::code::kInvalidRequest,
            "an error has a code of JSON-RPC");
    check_line(mcp::error_text(malformed->id, malformed->error));
    return;
  }
  const auto& message = std::get<mcp::Message>(decoded);
  require(message.id.is_null() || message.id.is_string() || message.id.is_number_integer(),
          "an id is a string or a whole number");
  require(message.params.is_null() || message.params.is_object(), "params are an object");
  check_line(mcp::result_text(message.id, {{"echo", message.params}}));
  if (message.kind == mcp::Message::Kind::request)
    check_same(message, mcp::request_text(message.id, message.method, message.params));
}

}  // namespace ratchet::fuzz
