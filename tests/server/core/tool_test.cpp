#include "server/core/tool.h"

#include <catch2/catch_test_macros.hpp>

namespace ratchet {
namespace {

struct Args {
  int number = 0;
  static constexpr void fields(auto&& visit) {
    visit(required("number", &Args::number, "Any.", {.min = 0}));
  }
};

struct Out {
  int doubled = 0;
  std::vector<Args> rows;
  static constexpr void fields(auto&& visit) {
    visit(required("doubled", &Out::doubled, ""), required("rows", &Out::rows, ""));
  }
};

Tool doubling(int& calls) {
  return make_tool<Args, Out>({.name = "double_it"},
                              [&calls](const Args& args, CallContext&) -> Result<Out> {
                                ++calls;
                                if (args.number == 13)
                                  return Error{ErrorCode::conflict, "13 is taken", "Try 14."};
                                return Out{2 * args.number, {{1}, {2}}};
                              });
}

TEST_CASE("an answer has the same facts as structured content and as text", "[tool]") {
  int calls = 0;
  CallContext context;

  const auto answer = doubling(calls).call({{"number", 4}}, context);

  CHECK_FALSE(answer.is_error);
  CHECK(answer.structured ==
        Json::parse(R"({"doubled": 8, "rows": [{"number": 1}, {"number": 2}]})"));
  CHECK(answer.text == "doubled: 8\nrows:\n  - number=1\n  - number=2\n");
}

TEST_CASE("invalid arguments never reach the handler", "[tool]") {
  int calls = 0;
  CallContext context;

  const auto answer = doubling(calls).call({{"number", -1}}, context);

  CHECK(answer.is_error);
  CHECK(answer.text == "invalid_argument: number: must be at least 0, got -1");
  CHECK(calls == 0);
}

TEST_CASE("a handler's error is reported with its code and hint", "[tool]") {
  int calls = 0;
  CallContext context;

  const auto answer = doubling(calls).call({{"number", 13}}, context);

  CHECK(answer.is_error);
  CHECK(answer.structured.is_null());
  CHECK(answer.text == "conflict: 13 is taken\nTry 14.");
}

}  // namespace
}  // namespace ratchet
