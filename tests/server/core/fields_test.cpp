#include <catch2/catch_test_macros.hpp>

#include "server/core/fields.h"

#include <cstdint>

namespace ratchet {
namespace {

enum class Color { red, green };
constexpr auto enum_names(Color) {
  return std::array{std::pair{Color::red, "red"}, std::pair{Color::green, "green"}};
}

struct Inner {
  std::int64_t rows = 0;
  static constexpr void fields(auto&& visit) {
    visit(required("rows", &Inner::rows, "Rows.", {.min = 1}));
  }
};

struct Args {
  std::string run;
  int limit = 10;
  Color color = Color::red;
  std::vector<Inner> cases;
  std::optional<double> atol;
  OneOrMany<std::string> scope;

  static constexpr void fields(auto&& visit) {
    visit(required("run", &Args::run, "Run id."),
          optional("limit", &Args::limit, "Most rows.", {.min = 1, .max = 50}),
          optional("color", &Args::color, "Paint."), optional("cases", &Args::cases, "Workload."),
          optional("atol", &Args::atol, "Tolerance."), optional("scope", &Args::scope, "Where."));
  }
};

Error failure_of(const char* text) {
  auto args = decode<Args>(Json::parse(text));
  REQUIRE_FALSE(args);
  return args.error();
}

TEST_CASE("complete arguments are decoded into their struct", "[fields]") {
  const auto args = decode<Args>(Json::parse(
      R"({"run": "r", "limit": 7, "color": "green", "cases": [{"rows": 3}], "atol": 0.5, "scope": "wiki"})"));

  REQUIRE(args);
  CHECK(args->run == "r");
  CHECK(args->limit == 7);
  CHECK(args->color == Color::green);
  CHECK(args->cases.at(0).rows == 3);
  CHECK(args->atol == 0.5);
  CHECK(args->scope.values == std::vector<std::string>{"wiki"});
}

TEST_CASE("an absent field keeps its default, and null counts as absent", "[fields]") {
  const auto args = decode<Args>(Json::parse(R"({"run": "r", "limit": null})"));

  REQUIRE(args);
  CHECK(args->limit == 10);
  CHECK_FALSE(args->atol);
}

TEST_CASE("an error names the field, the rule and the value", "[fields]") {
  CHECK(failure_of("{}").message == "run: is required and was not given");
  CHECK(failure_of(R"({"run": 3})").message == "run: must be a string, got 3");
  CHECK(failure_of(R"({"run": "r", "limit": 51})").message ==
        "limit: must be between 1 and 50, got 51");
  CHECK(failure_of(R"({"run": "r", "limit": 1.5})").message ==
        "limit: must be an integer, got 1.5");
  CHECK(failure_of(R"({"run": "r", "limit": 99999999999})").message ==
        "limit: must be between 1 and 50, got 99999999999");
  CHECK(failure_of(R"({"run": "r", "color": "blue"})").message ==
        "color: must be one of red, green, got \"blue\"");
  CHECK(failure_of(R"({"run": "r", "cases": [{"rows": 2}, {"rows": 0}]})").message ==
        "cases[1].rows: must be at least 1, got 0");
  CHECK(failure_of(R"([])").message == "arguments: must be an object, got []");
}

TEST_CASE("an unknown field is rejected with the nearest known one", "[fields]") {
  const auto error = failure_of(R"({"run": "r", "limt": 3})");

  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.message == "limt: is not a known field");
  CHECK(error.hint == "Did you mean limit? Known fields: run, limit, color, cases, atol, scope.");
}

TEST_CASE("unknown fields of a stored payload are ignored", "[fields]") {
  CHECK(decode_stored<Inner>(Json::parse(R"({"rows": 4, "columns": 9})"))->rows == 4);
}

TEST_CASE("encoding and decoding returns the same value", "[fields]") {
  Args args{.run = "r",
            .limit = 3,
            .color = Color::green,
            .cases = {{5}},
            .atol = 0.25,
            .scope = {{"a", "b"}}};

  const auto back = decode<Args>(encode(args));

  REQUIRE(back);
  CHECK(encode(*back) == encode(args));
  CHECK_FALSE(encode(Args{}).contains("atol"));
}

TEST_CASE("the schema is a closed object with bounds, defaults and no combinators", "[fields]") {
  const Json schema = schema_of<Args>();

  CHECK(schema["type"] == "object");
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["required"] == Json::array({"run"}));
  CHECK(
      schema["properties"]["limit"] ==
      Json::parse(
          R"({"type": "integer", "minimum": 1, "maximum": 50, "default": 10, "description": "Most rows."})"));
  CHECK(schema["properties"]["scope"]["type"] == "array");
  CHECK(schema.dump().find("anyOf") == std::string::npos);
}

TEST_CASE("only canonical version names are accepted", "[fields]") {
  CHECK(decode<VersionId>(Json("v12"))->number == 12);
  for (const char* bad : {"v08", "v", "12", "v-1", "v1x", "v99999999999"})
    CHECK_FALSE(decode<VersionId>(Json(bad)));
}

TEST_CASE("a number that JSON cannot represent becomes null", "[fields]") {
  CHECK(encode(std::numeric_limits<double>::infinity()).is_null());
  CHECK(std::isnan(*decode_stored<double>(Json(nullptr))));
}

}  // namespace
}  // namespace ratchet
