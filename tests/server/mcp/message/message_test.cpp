#include "server/mcp/message/message.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace ratchet::mcp {
namespace {

Message decoded(std::string_view text) {
  auto result = decode_message(text);
  REQUIRE(std::holds_alternative<Message>(result));
  return std::get<Message>(std::move(result));
}

Malformed refused(std::string_view text) {
  auto result = decode_message(text);
  REQUIRE(std::holds_alternative<Malformed>(result));
  return std::get<Malformed>(std::move(result));
}

TEST_CASE("a request keeps its id, whether string or integer", "[message]") {
  CHECK(decoded(R"({"jsonrpc":"2.0","id":"a","method":"ping"})").id == "a");
  CHECK(decoded(R"({"jsonrpc":"2.0","id":0,"method":"ping"})").id == 0);
  // Beyond 2^53, where a double would lose digits.
  CHECK(decoded(R"({"jsonrpc":"2.0","id":9007199254740993,"method":"ping"})").id ==
        9007199254740993);
}

TEST_CASE("a message without an id is a notification, one without a method a response",
          "[message]") {
  CHECK(decoded(R"({"jsonrpc":"2.0","method":"x"})").kind == Message::Kind::notification);
  CHECK(decoded(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind == Message::Kind::response);
}

TEST_CASE("invalid JSON is a parse error without an id", "[message]") {
  const auto text = GENERATE(as<std::string>{}, "", "{", "nonsense", R"({"jsonrpc":"2.0")",
                             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
                             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}");
  const auto error = refused(text);

  CHECK(error.error.code == code::kParseError);
  CHECK(error.id.is_null());
}

TEST_CASE("an id that is neither string nor integer is rejected without an id", "[message]") {
  const auto id = GENERATE("null", "true", "1.5", "[1]", "{}", "1e400");
  const auto result =
      decode_message(std::string(R"({"jsonrpc":"2.0","method":"ping","id":)") + id + "}");

  REQUIRE(std::holds_alternative<Malformed>(result));
  CHECK(std::get<Malformed>(result).id.is_null());
}

TEST_CASE("a malformed envelope is an invalid request with its id", "[message]") {
  const auto text =
      GENERATE(R"({"jsonrpc":"1.0","id":7,"method":"ping"})", R"({"id":7,"method":"ping"})",
               R"({"jsonrpc":"2.0","id":7})", R"({"jsonrpc":"2.0","id":7,"method":3})",
               R"({"jsonrpc":"2.0","id":7,"method":"x","params":[1]})",
               R"({"jsonrpc":"2.0","id":7,"result":{},"error":{}})");
  const auto error = refused(text);

  CHECK(error.error.code == code::kInvalidRequest);
  CHECK(error.id == 7);
}

TEST_CASE("duplicate names are rejected at any depth", "[message]") {
  const auto text =
      GENERATE(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})",
               R"({"jsonrpc":"2.0","id":1,"method":"a","method":"b"})",
               R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[{"b":1,"b":1}]}})",
               R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"\u0061":2}})");
  const auto error = refused(text);

  CHECK(error.error.code == code::kInvalidRequest);
  CHECK(error.id.is_null());
}

TEST_CASE("colons in strings and one name in different objects are not duplicates", "[message]") {
  const auto message = decoded(
      R"({"jsonrpc":"2.0","id":1,"method":"x:y","params":{"a":{"a":":\":"},"b":[{"a":1},{"a":2}]}})");

  CHECK(message.params["a"]["a"] == ":\":");
}

TEST_CASE("numbers out of range are rejected; integers beyond 64 bits are not ids", "[message]") {
  const auto with = [](const char* number) {
    return std::string(R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":)") + number + "}}";
  };
  CHECK(refused(with("1e999")).error.code == code::kParseError);
  CHECK(refused(with(("1" + std::string(400, '0')).c_str())).error.code == code::kParseError);
  CHECK(decoded(with("-1.5e300")).params["a"] == -1.5e300);
  CHECK(refused(R"({"jsonrpc":"2.0","id":18446744073709551616,"method":"x"})").error.code ==
        code::kInvalidRequest);
}

TEST_CASE("batches are rejected as such", "[message]") {
  CHECK(refused(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])").error.message ==
        "batches are not supported; send one message at a time");
}

TEST_CASE(
    "128 levels of nesting are accepted and more are rejected; brackets in strings do not count",
    "[message]") {
  // The message itself and params are two levels.
  const auto nested = [](int levels) {
    return R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":)" +
           std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']') + "}}";
  };
  CHECK(decoded(nested(126)).method == "x");
  CHECK(refused(nested(127)).error.code == code::kInvalidRequest);
  CHECK(refused(std::string(1'000'000, '[')).error.code == code::kInvalidRequest);
  CHECK(decoded(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(300, '[') + "\"}").kind ==
        Message::Kind::request);
}

TEST_CASE("a message beyond 16 MiB is rejected", "[message]") {
  CHECK(refused(std::string(kMessageLimit + 1, ' ')).error.code == code::kInvalidRequest);
}

TEST_CASE("invalid UTF-8 from a tool is replaced, and a message is one line", "[message]") {
  const auto text = result_text(1, {{"text", "a\xff\nb"}});

  CHECK(text.find('\n') == std::string::npos);
  CHECK(Json::parse(text)["result"]["text"] == "a\xef\xbf\xbd\nb");
}

}  // namespace
}  // namespace ratchet::mcp
