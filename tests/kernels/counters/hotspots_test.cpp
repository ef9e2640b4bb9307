#include "kernels/counters/hotspots.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace ratchet;
using Catch::Approx;

namespace {

/// Two instructions of line 7 and one of line 9.
std::vector<CodeFunction> code() {
  CodeFunction function;
  function.name = "_Z4copyPf";
  function.instructions = {{.address = 0x10, .opcode = "LDG.E", .operands = "R2, [R4]", .line = 7},
                           {.address = 0x20, .guard = "@P0", .opcode = "FADD", .line = 7},
                           {.address = 0x30, .opcode = "STG.E", .line = 9}};
  return {function};
}

wire::PcSamples samples() {
  wire::PcSamples samples;
  samples.pcs = {{"_Z4copyPf", 0x10, {{"long_scoreboard", 10}}},
                 {"_Z4copyPf", 0x00, {{"long_scoreboard", 40}, {"long_scoreboard_not_issued", 35}}},
                 {"_Z4copyPf", 0x20, {{"selected", 30}}},
                 {"ratchet_read", 0x40, {{"long_scoreboard", 900}}}};
  samples.period_cycles = 128;
  return samples;
}

}  // namespace

TEST_CASE("samples are summed by source line, the line with most first", "[hotspots]") {
  const auto spots = hotspots_from(samples(), code());

  // 40 + 10 on line 7, 30 on line 9; 900 of a function that is not the kernel's, and 35 that are a
  // part of the 40.
  REQUIRE(spots.places.size() == 2);
  CHECK(spots.samples == 80);
  CHECK(spots.places[0].line == 7);
  CHECK(spots.places[0].kernel == "copy");
  CHECK(spots.places[0].samples == 50);
  CHECK(spots.places[0].share == Approx(50.0 / 80));
  CHECK(spots.places[0].offset == 0);
  CHECK(spots.places[0].instruction == "LDG.E R2, [R4]");
  CHECK(spots.places[1].line == 9);
  CHECK(spots.places[1].stalls.at("selected") == Approx(1));
  CHECK_FALSE(spots.degraded_reason);
}

TEST_CASE("without a disassembler there are only offsets, and the reason", "[hotspots]") {
  const auto spots = hotspots_from(samples(), {});

  REQUIRE(spots.places.size() == 4);
  CHECK_FALSE(spots.places[0].line);
  CHECK(spots.places[0].instruction.empty());
  REQUIRE(spots.degraded_reason);
  CHECK(spots.degraded_reason->find("disassembler") != std::string::npos);
}

TEST_CASE("code without line numbers is shown by instruction, and says so", "[hotspots]") {
  auto functions = code();
  for (auto& instruction : functions[0].instructions) instruction.line = 0;
  const auto spots = hotspots_from(samples(), functions);

  REQUIRE(spots.places.size() == 3);
  CHECK(spots.places[0].offset == 0);
  CHECK(spots.places[0].samples == 40);
  CHECK(spots.degraded_reason->find("line numbers") != std::string::npos);
}

TEST_CASE("samples that could not be taken keep their reason", "[hotspots]") {
  wire::PcSamples none;
  none.unavailable = "the driver gives no samples";
  const auto spots = hotspots_from(none, code());

  CHECK(spots.places.empty());
  CHECK(spots.degraded_reason == "the driver gives no samples");
}

TEST_CASE("short calls are sampled often and repeatedly, long ones once", "[hotspots]") {
  // 5 us: 8,500 cycles / 512 = 2^4; the least that CUPTI takes is 2^5. 2 ms / 5 us would be 400.
  const auto brief = sampling_of({5e3});
  CHECK(brief.period_log2 == 5);
  CHECK(brief.calls == 20);
  // 10 ms: 17,000,000 / 512 = 2^15.02.
  const auto lengthy = sampling_of({10e6});
  CHECK(lengthy.period_log2 == 15);
  CHECK(lengthy.calls == 1);
}
