#include "server/docs/reference.h"

#include <catch2/catch_test_macros.hpp>

#include "server/core/files.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

struct Args {
  std::string run;
  int limit = 3;
  static constexpr void fields(auto&& visit) {
    visit(required("run", &Args::run, "Run id."), optional("limit", &Args::limit, "Most rows."));
  }
};

std::vector<Tool> one_tool(const std::string& name) {
  return {make_tool<Args, NoArgs>(
      {.name = name, .summary = "Does it."},
      [](const Args&, CallContext&) -> Result<NoArgs> { return NoArgs{}; })};
}

TEST_CASE("generated files are no longer stale once written", "[docs]") {
  const test::TempFolder folder;
  REQUIRE(write_file(folder / "docs/tools.md",
                     "a\n<!-- tools:begin -->\nold\n<!-- tools:end -->\nb\n"));

  CHECK(write_generated_files(one_tool("do_it"), folder.path())->size() == 2);
  CHECK(stale_files(one_tool("do_it"), folder.path())->empty());

  CHECK(*read_file(folder / "docs/tools.md") ==
        "a\n<!-- tools:begin -->\n| toolset | tool | does | arguments |\n|---|---|---|---|\n"
        "| loop | `do_it` | Does it. | `run` `limit?` |\n<!-- tools:end -->\nb\n");
}

TEST_CASE("the old schema of a renamed tool is stale and is removed", "[docs]") {
  const test::TempFolder folder;
  REQUIRE(write_generated_files(one_tool("do_it"), folder.path()));

  CHECK(*stale_files(one_tool("do_that"), folder.path()) ==
        std::vector<std::string>{"schemas/do_it.json", "schemas/do_that.json"});
  REQUIRE(write_generated_files(one_tool("do_that"), folder.path()));

  CHECK_FALSE(std::filesystem::exists(folder / "schemas" / "do_it.json"));
}

TEST_CASE("a block without an end marker is an error that names the file", "[docs]") {
  const test::TempFolder folder;
  REQUIRE(write_file(folder / "docs/tools.md", "<!-- tools:begin -->\nold\n"));

  const auto files = generated_files(one_tool("do_it"), folder.path());

  CHECK(files.error().message == "docs/tools.md: <!-- tools:end --> is missing");
}

}  // namespace
}  // namespace ratchet
