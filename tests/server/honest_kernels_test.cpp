// One round of tests/honest/run.py on the processor: kernels as they are written in public
// practice, beside torch references with usual tolerances, and shortcuts of them. More rounds by
// hand: see there.

#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "server/core/process.h"
#include "tests/support/frameworks.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
using namespace ratchet::test;

TEST_CASE("no honest kernel of public practice is refused, and no shortcut of one passes",
          "[honest][python][slow]") {
  const auto python = python_with_frameworks();
  const TempFolder folder;
  auto environment = inherited_environment({"PATH", "HOME"});
  environment.push_back("RATCHET_PYTHON=" + python);

  const auto ended =
      run_program({.argv = {"python3", (source_dir() / "tests/honest/run.py").string(),
                            (build_dir() / "bin/ratchet").string(), "host", folder.path().string()},
                   .environment = std::move(environment)},
                  std::chrono::minutes(20));

  REQUIRE(ended);
  INFO(ended->out << ended->err);
  CHECK(ended->status.clean());
}
