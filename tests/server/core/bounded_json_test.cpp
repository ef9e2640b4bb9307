#include "server/core/bounded_json.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace ratchet {
namespace {

TEST_CASE("JSON within the limits is parsed; brackets in strings do not count", "[json]") {
  const auto json = bounded_json(R"({"a": [1, "[[{\\\"{["], "b": null})");
  REQUIRE(json);
  CHECK(json->at("a").at(1) == "[[{\\\"{[");
  CHECK(bounded_json(std::string(64, '[') + std::string(64, ']')));
  CHECK(bounded_json("\"" + std::string(300'000, '[') + "\""));
}

TEST_CASE("JSON that is too deep, has too many values or is none is refused", "[json]") {
  CHECK(bounded_json(std::string(65, '[') + std::string(65, ']')).error().code ==
        ErrorCode::too_large);
  std::string many = "[0";
  for (int i = 0; i < 200'000; ++i) many += ",0";
  CHECK(bounded_json(many + "]").error().code == ErrorCode::too_large);
  CHECK(bounded_json("{").error().code == ErrorCode::invalid_argument);
  CHECK(bounded_json("").error().code == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ratchet
