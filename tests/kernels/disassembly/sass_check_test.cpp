#include "kernels/disassembly/sass_check.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "tests/support/places.h"

using namespace ratchet;

namespace {

/// The counts of straight code with these instructions.
OpcodeCounts counts_of(const std::vector<std::string>& instructions, bool in_loop = false) {
  std::string text = ".text.kernel:\n.L_0:\n";
  int address = 0;
  for (const auto& one : instructions) {
    char line[128];
    std::snprintf(line, sizeof line, "  /*%04x*/ %s ;\n", address, one.c_str());
    address += 16;
    text += line;
  }
  if (in_loop) text += "  /*ff00*/ @P0 BRA `(.L_0) ;\n";
  return OpcodeCounts(read_code(text, CodeKind::sass));
}

CodeVerdict verdict(const char* id, const OpcodeCounts& candidate, const OpcodeCounts* parent) {
  return verdict_of(*signature_of(id), candidate, parent).verdict;
}

}  // namespace

TEST_CASE("opcodes are compared token by token", "[sass]") {
  const auto code = counts_of({"LDGSTS.E.BYPASS.128 [R1], [R2.64]", "STS.128 [R1], R4",
                               "LDG.E.128.CONSTANT R4, [R2.64]", "HMMA.16816.F32 R0, R1, R2, R3"});

  CHECK(code.count("STS") == 1);  // not the one inside LDGSTS
  CHECK(code.count("LDG.128") == 1);
  CHECK(code.count("LDG!CONSTANT") == 0);
  CHECK(code.count("LDG.12") == 0);
  CHECK(code.count("MMA|HMM") == 0);
  CHECK(code.count("HMMA.F32|STS") == 2);
}

TEST_CASE("a method is verified if it shows more than in the parent", "[sass]") {
  const auto with = counts_of({"LDGSTS.E.BYPASS.128 [R1], [R2.64]", "LDGDEPBAR"});
  const auto without = counts_of({"LDG.E R0, [R2.64]", "STS [R1], R0"});

  CHECK(verdict("async_copy", with, &without) == CodeVerdict::verified);
  CHECK(verdict("async_copy", with, nullptr) == CodeVerdict::verified);
  CHECK(verdict("async_copy", without, &with) == CodeVerdict::absent);
  CHECK(verdict("async_copy", with, &with) == CodeVerdict::unknown);  // the parent has it already
}

TEST_CASE("a decrease cannot be verified without a parent", "[sass]") {
  const auto many = counts_of({"BAR.SYNC.DEFER_BLOCKING 0x0", "BAR.SYNC.DEFER_BLOCKING 0x0"});
  const auto few = counts_of({"BAR.SYNC.DEFER_BLOCKING 0x0"});

  CHECK(verdict("reduce_sync_count", few, &many) == CodeVerdict::verified);
  CHECK(verdict("reduce_sync_count", many, &few) == CodeVerdict::unknown);
  CHECK(verdict("reduce_sync_count", few, nullptr) == CodeVerdict::unknown);
}

TEST_CASE("for a method required in a loop, code outside loops does not count", "[sass]") {
  const std::vector<std::string> body{"LDGSTS.E.BYPASS.128 [R1], [R2.64]", "DEPBAR.LE SB0, 0x1"};
  const auto nothing = counts_of({"EXIT"});
  const auto straight = counts_of(body), looped = counts_of(body, true);

  CHECK(verdict("async_pipeline", looped, &nothing) == CodeVerdict::verified);
  CHECK(verdict("async_pipeline", straight, &nothing) == CodeVerdict::unknown);
}

TEST_CASE("waiting for all copies is not a pipeline", "[sass]") {
  const auto drained = counts_of({"LDGSTS.E.BYPASS.128 [R1], [R2.64]", "DEPBAR.LE SB0, 0x0"}, true);
  const auto nothing = counts_of({"EXIT"});
  CHECK(verdict("async_pipeline", drained, &nothing) == CodeVerdict::unknown);
}

TEST_CASE("a method without its own opcode is unknown, and the note says where to look", "[sass]") {
  const auto code = counts_of({"FFMA R0, R1, R2, R3"});
  const auto fusion = verdict_of(*signature_of("kernel_fusion"), code, nullptr);

  CHECK(fusion.verdict == CodeVerdict::unknown);
  CHECK(fusion.note.find("look at") != std::string::npos);
}

TEST_CASE("a verdict cites the counts of both sides", "[sass]") {
  const auto with =
      counts_of({"SHFL.BFLY PT, R0, R0, 0x1, 0x1f", "SHFL.BFLY PT, R0, R0, 0x2, 0x1f"});
  const auto without = counts_of({"LDS R0, [R1]"});
  const auto found = verdict_of(*signature_of("warp_shuffle"), with, &without).found;

  REQUIRE(found.size() == 1);
  CHECK(found[0] == "SHFL.BFLY|SHFL.DOWN|SHFL.UP: 2 (parent 0)");
}

TEST_CASE("every method page of the wiki has a signature, and vice versa", "[sass]") {
  const std::filesystem::path pages = test::source_dir() / "kbs/content/docs/methods";
  std::size_t count = 0;
  for (const auto& page : std::filesystem::directory_iterator(pages)) {
    auto id = page.path().stem().string();
    std::ranges::replace(id, '-', '_');
    INFO(id);
    CHECK(signature_of(id) != nullptr);
    ++count;
  }
  CHECK(method_signatures().size() == count);
  CHECK(signature_of("no_such_method") == nullptr);
}
