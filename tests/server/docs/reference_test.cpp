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

const LabSchemas kLabs{{"noise", {{"protocol", 4}}}};

std::vector<Tool> one_tool(const std::string& name) {
  return {make_tool<Args, NoArgs>(
      {.name = name, .summary = "Does it."},
      [](const Args&, CallContext&) -> Result<NoArgs> { return NoArgs{}; })};
}

TEST_CASE("generated files are no longer stale once written", "[docs]") {
  const test::TempFolder folder;
  REQUIRE(write_file(folder / "docs/tools.md",
                     "a\n<!-- tools:begin -->\nold\n<!-- tools:end -->\nb\n"));

  CHECK(write_generated_files(one_tool("do_it"), kLabs, folder.path())->size() == 3);
  CHECK(stale_files(one_tool("do_it"), kLabs, folder.path())->empty());

  CHECK(*read_file(folder / "docs/tools.md") ==
        "a\n<!-- tools:begin -->\n| toolset | tool | does | arguments |\n|---|---|---|---|\n"
        "| loop | `do_it` | Does it. | `run` `limit?` |\n<!-- tools:end -->\nb\n");
}

TEST_CASE("the old schema of a renamed tool is stale and is removed", "[docs]") {
  const test::TempFolder folder;
  REQUIRE(write_generated_files(one_tool("do_it"), kLabs, folder.path()));

  CHECK(*stale_files(one_tool("do_that"), kLabs, folder.path()) ==
        std::vector<std::string>{"schemas/do_it.json", "schemas/do_that.json"});
  REQUIRE(write_generated_files(one_tool("do_that"), kLabs, folder.path()));

  CHECK_FALSE(std::filesystem::exists(folder / "schemas" / "do_it.json"));
}

TEST_CASE("a block that names tools or toolsets lists these alone", "[docs]") {
  const test::TempFolder folder;
  const auto lines = [&](const std::string& begin) {
    REQUIRE(write_file(folder / "skill/one.md", begin + "\nold\n<!-- tools:end -->\n"));
    auto tools = one_tool("do_it");
    tools.push_back(one_tool("do_that")[0]);
    tools.back().info.toolset = Toolset::kbs;
    const auto files = generated_files(tools, kLabs, folder.path());
    return files ? files->at("skill/one.md") : files.error().message;
  };
  const std::string head = "\n| toolset | tool | does | arguments |\n|---|---|---|---|\n";
  const std::string one = "| loop | `do_it` | Does it. | `run` `limit?` |\n";
  const std::string other = "| kbs | `do_that` | Does it. | `run` `limit?` |\n";
  const std::string end = "<!-- tools:end -->\n";

  CHECK(lines("<!-- tools:begin kbs -->") == "<!-- tools:begin kbs -->" + head + other + end);
  CHECK(lines("<!-- tools:begin do_it -->") == "<!-- tools:begin do_it -->" + head + one + end);
  CHECK(lines("<!-- tools:begin loop do_that -->") ==
        "<!-- tools:begin loop do_that -->" + head + one + other + end);
  CHECK(lines("<!-- tools:begin kbs do_all -->") ==
        "skill/one.md: the block of tools names do_all, which is neither a tool nor a toolset");
}

TEST_CASE("a block without an end marker is an error that names the file", "[docs]") {
  const test::TempFolder folder;
  REQUIRE(write_file(folder / "docs/tools.md", "<!-- tools:begin -->\nold\n"));

  const auto files = generated_files(one_tool("do_it"), kLabs, folder.path());

  CHECK(files.error().message == "docs/tools.md: <!-- tools:end --> is missing");
}

}  // namespace
}  // namespace ratchet
