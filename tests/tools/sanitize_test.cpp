#include <catch2/catch_test_macros.hpp>

#include "tests/support/workbench.h"

namespace ratchet {
namespace {

TEST_CASE("sanitize_kernel refuses host kernels and unknown tools, and nothing changes",
          "[sanitize]") {
  test::Workbench bench;
  const std::string run = bench.start_run();

  const auto host = bench.call("sanitize_kernel", {{"run", run}});
  CHECK(host.is_error);
  CHECK(host.text.find("unavailable") == 0);
  CHECK(host.text.find("CUDA kernels") != std::string::npos);
  const auto unknown = bench.call("sanitize_kernel", {{"run", run}, {"tools", {"leakcheck"}}});
  CHECK(unknown.is_error);
  CHECK(unknown.text.find("tools") != std::string::npos);
  CHECK(unknown.text.find("memcheck") != std::string::npos);
  CHECK(bench.must("run_status", {{"run", run}}).at("stage") == "built");
}

}  // namespace
}  // namespace ratchet
