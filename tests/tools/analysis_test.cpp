// The tools that look at a version and change no stage, on the host device.

#include <catch2/catch_test_macros.hpp>

#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/workbench.h"

namespace ratchet {
namespace {

TEST_CASE("a host kernel's machine code is shown by pages with what was counted", "[analysis]") {
  if (!find_program("objdump")) SKIP("binutils is not installed");
  test::Workbench bench;
  const std::string run = bench.start_run();
  const Json page = bench.must("disassemble", {{"run", run}, {"function", "solve"}});

  CHECK(page.at("version") == "v0");
  CHECK(page.at("disassembler").get<std::string>().starts_with("objdump "));
  CHECK(page.at("shown") == "solve");
  CHECK(page.at("text").get<std::string>().find("ret") != std::string::npos);
  CHECK(page.at("functions").at(0).at("instructions").get<int>() > 5);
  const auto wrong = bench.call("disassemble", {{"run", run}, {"function", "nothing"}});
  CHECK(wrong.is_error);
  CHECK(wrong.text.find("The binary has: ") != std::string::npos);
}

TEST_CASE("methods are never verified in code that is not a GPU's", "[analysis]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  const Json answer = bench.must("check_sass", {{"run", run}, {"methods", {"tensor_core"}}});

  CHECK(answer.at("methods").at(0).at("verdict") == "unknown");
  CHECK(answer.at("unavailable").get<std::string>().find("host") != std::string::npos);
  CHECK(answer.at("stage") == "built");
  const auto artifact = read_file(bench.folder() / "out" / "v0" / "sass_check.json");
  REQUIRE(artifact);
  CHECK(artifact->find("\"candidate_digest\"") != std::string::npos);
  CHECK(bench.must("run_status", {{"run", run}}).at("integrity").empty());
}

TEST_CASE("an unknown method or version is named", "[analysis]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  const auto method = bench.call("check_sass", {{"run", run}, {"methods", {"magic"}}});
  CHECK(method.is_error);
  CHECK(method.text.find("magic") != std::string::npos);
  const auto version = bench.call("disassemble", {{"run", run}, {"version", "v7"}});
  CHECK(version.is_error);
  CHECK(version.text.find("v7") != std::string::npos);
}

}  // namespace
}  // namespace ratchet
