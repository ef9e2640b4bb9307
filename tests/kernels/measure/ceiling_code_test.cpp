#include "kernels/measure/ceiling_code.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

using namespace ratchet::measure;
using namespace std::chrono_literals;

namespace {

/// Messages of ptxas about the code; empty if there are none.
std::string complaint(const std::filesystem::path& ptxas, const std::string& ptx) {
  const ratchet::test::TempFolder folder;
  const auto file = folder.path() / "roof.ptx";
  REQUIRE(ratchet::write_file(file, ptx));
  const auto at = ptx.find(".target ") + 8;
  ratchet::ProcessSpec spec;
  spec.argv = {ptxas.string(), "-arch=" + ptx.substr(at, ptx.find('\n', at) - at), "-o",
               "/dev/null", file.string()};
  const auto done = ratchet::run_program(spec, 30s);
  REQUIRE(done);
  return done->status.clean() ? done->err : "failed: " + done->err;
}

bool has(const std::vector<RoofKernel>& roofs, const std::string& what) {
  return std::ranges::find(roofs, what, &RoofKernel::what) != roofs.end();
}

}  // namespace

TEST_CASE("the kernel of every ceiling assembles without a warning", "[ceilings][slow]") {
  const auto ptxas = ratchet::find_program("ptxas");
  if (!ptxas) SKIP("ptxas is not installed");
  for (const int capability : {75, 80, 89, 90, 100, 120}) {
    auto roofs = roof_kernels(capability);
    roofs.push_back(shared_memory_roof(capability));
    for (const auto& roof : roofs) {
      INFO(capability << " " << roof.what);
      CHECK(complaint(*ptxas, roof.ptx).empty());
    }
    CHECK(complaint(*ptxas, copy_code(capability)).empty());
  }
}

TEST_CASE("a chip has ceilings for the types that its tensor cores support", "[ceilings]") {
  CHECK(has(roof_kernels(80), "bf16"));
  CHECK_FALSE(has(roof_kernels(80), "fp8"));  // from 8.9 on
  CHECK(has(roof_kernels(89), "fp8"));
  CHECK(has(roof_kernels(90), "int8"));
  // Their full rate needs another instruction, and too low a ceiling would reject honest kernels.
  CHECK_FALSE(has(roof_kernels(100), "bf16"));
  CHECK(has(roof_kernels(100), "fp32"));
}

TEST_CASE("tensor cores have a ceiling for products of zeros, which only differ in what they hold",
          "[ceilings]") {
  const auto roofs = roof_kernels(90);
  for (const std::string what : {"tf32", "fp16", "bf16", "fp8", "int8"}) {
    const auto plain = std::ranges::find(roofs, what, &RoofKernel::what);
    const auto zeros = std::ranges::find(roofs, what + "_of_zeros", &RoofKernel::what);
    REQUIRE(plain != roofs.end());
    REQUIRE(zeros != roofs.end());
    CHECK(zeros->operations == plain->operations);
    CHECK(zeros->ptx != plain->ptx);
    CHECK(zeros->ptx.size() == plain->ptx.size());  // one mask for another
  }
}

TEST_CASE("a ceiling's operation count matches its instructions", "[ceilings]") {
  const auto roofs = roof_kernels(90);
  const auto fp32 = std::ranges::find(roofs, "fp32", &RoofKernel::what);
  const auto pairs = std::ranges::find(roofs, "fp16_pairs", &RoofKernel::what);
  CHECK(pairs->operations == 2 * fp32->operations);  // two values an instruction
  const auto bf16 = std::ranges::find(roofs, "bf16", &RoofKernel::what);
  const auto fp8 = std::ranges::find(roofs, "fp8", &RoofKernel::what);

  // Two warp groups, 16 products of 64 x 256 x 16: 2 * 2 * 16 * 64 * 256 * 16.
  CHECK(bf16->operations == 16'777'216);
  CHECK(fp8->operations == 2 * bf16->operations);
}
