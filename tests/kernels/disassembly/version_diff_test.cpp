#include "kernels/disassembly/version_diff.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace ratchet;
using Catch::Approx;

TEST_CASE("changed lines are shown in order, unchanged ones left out", "[compare]") {
  CHECK(line_diff("a\nb\nc\n", "a\nx\nc\nd\n", 10) == "-b\n+x\n+d\n");
  CHECK(line_diff("same\n", "same\n", 10).empty());
  CHECK(line_diff("1\n2\n3\n", "", 2) == "-1\n-2\n… 1 more changed lines\n");
}

TEST_CASE("counters are compared by their relative change, largest first", "[compare]") {
  Candidate one, other;
  one.build.registers = 32;
  other.build.registers = 64;
  Profile before, after;
  before.kernels = {{"k", {{"small", 100}, {"large", 10}, {"same", 5}, {"gone", 1}}}};
  after.kernels = {{"k", {{"small", 110}, {"large", 40}, {"same", 5}}}};
  before.findings = {{"pattern-tail-effect", "", "", 0, "", Confidence::low, {}}};
  const auto diff = diff_of({&one, &before}, {&other, &after});

  REQUIRE(diff.metrics.size() == 2);
  CHECK(diff.metrics[0].name == "large");
  CHECK(diff.metrics[0].change == Approx(3));
  CHECK(diff.metrics[1].change == Approx(0.1));
  CHECK(diff.resources.at(0).b == 64);
  CHECK(diff.findings_gone == std::vector<std::string>{"pattern-tail-effect"});
  CHECK(diff.findings_new.empty());
}

TEST_CASE("machine code is compared by opcode", "[compare]") {
  const auto code = [](const char* text) { return read_code(text, CodeKind::sass); };
  const auto a =
      code(".text.k:\n /*00*/ LDG.E R0, [R2] ;\n /*10*/ LDG.E R1, [R2] ;\n /*20*/ EXIT ;\n");
  const auto b = code(".text.k:\n /*00*/ LDG.E.128 R0, [R2] ;\n /*10*/ EXIT ;\n");
  const auto diff = code_diff(a, b);

  REQUIRE(diff.size() == 1);
  CHECK(diff[0].name == "LDG");
  CHECK(diff[0].a == 2);
  CHECK(diff[0].b == 1);
}
