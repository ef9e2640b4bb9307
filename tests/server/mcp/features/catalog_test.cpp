#include "server/mcp/features/catalog.h"

#include <catch2/catch_test_macros.hpp>

namespace ratchet::mcp {
namespace {

Tool tool_of(Effect effect) {
  Tool tool;
  tool.info = {.name = "check_env", .summary = "Looks.", .effect = effect};
  return tool;
}

TEST_CASE("only tools that change nothing have readOnlyHint", "[catalog]") {
  const auto hints = [](Effect effect) { return entry_of(tool_of(effect)).at("annotations"); };

  CHECK(hints(Effect::reads).at("readOnlyHint") == true);
  CHECK(hints(Effect::writes).at("readOnlyHint") == false);
  CHECK(hints(Effect::uses_device).at("readOnlyHint") == false);
  CHECK(hints(Effect::destroys).at("readOnlyHint") == false);
  CHECK(hints(Effect::destroys).at("destructiveHint") == true);
  CHECK(hints(Effect::writes).at("destructiveHint") == false);
  CHECK(hints(Effect::reads).at("openWorldHint") == false);
}

TEST_CASE("a tool's entry has a title, and alwaysLoad only if set", "[catalog]") {
  Tool tool = tool_of(Effect::reads);
  CHECK(entry_of(tool).at("title") == "Check env");
  CHECK_FALSE(entry_of(tool).contains("_meta"));

  tool.info.always_load = true;
  CHECK(entry_of(tool).at("_meta").at("anthropic/alwaysLoad") == true);
}

TEST_CASE("cursors connect the pages of a long list, in order", "[catalog]") {
  std::vector<Json> entries;
  for (int i = 0; i < 5; ++i) entries.push_back({{"name", i}});
  const Identity identity("n", "", "1");
  const PagedList list("tools", [&] { return entries; }, 2, identity, {});

  std::vector<int> names;
  std::optional<std::string> cursor;
  do {
    const std::string* page = list.page(cursor, Era::legacy);
    REQUIRE(page != nullptr);
    const Json json = Json::parse(*page);
    for (const auto& tool : json.at("tools")) names.push_back(tool.at("name").get<int>());
    cursor.reset();
    if (json.contains("nextCursor")) cursor = json.at("nextCursor").get<std::string>();
  } while (cursor);
  CHECK(names == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("a cursor that no page had is rejected", "[catalog]") {
  const Identity identity("n", "", "1");
  const PagedList list("tools", [] { return std::vector<Json>(3, Json::object()); }, 2, identity,
                       {});
  CHECK(list.page(cursor_of(2), Era::legacy) != nullptr);
  CHECK(list.page(cursor_of(0), Era::legacy) == nullptr);
  CHECK(list.page(cursor_of(1), Era::legacy) == nullptr);
  CHECK(list.page(cursor_of(4), Era::legacy) == nullptr);
  CHECK(list.page("YWZ0ZXI6LTI=", Era::legacy) == nullptr);  // "after:-2"
}

}  // namespace
}  // namespace ratchet::mcp
