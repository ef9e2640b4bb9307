// How long work is shown, and what the table of a run's versions says.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "server/core/fields.h"
#include "server/run_pages.h"
#include "server/terminal.h"

namespace ratchet::test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("progress shows a bar and the time that is left", "[terminal]") {
  const std::optional<std::chrono::duration<double>> unknown;
  CHECK(progress_text(1, 4, 30s, "cases", 80) == "[#####               ]  25 %  30 s left  cases");
  CHECK(progress_text(4, 4, unknown, "cases", 80) == "[####################] 100 %  cases");
  CHECK(progress_text(1, 100, 9900s, "x", 80) == "[                    ]   1 %  165 min left  x");
  CHECK(progress_text(3, 0, unknown, "first\nsecond", 80) == "… first");
  CHECK(progress_text(1, 4, 30s, std::string(200, 'x'), 79).size() == 79);
  CHECK(progress_text(1, 4, 30s, "cases", 0) == "… cases (25 %, 30 s left)");
  CHECK(progress_text(0, 4, unknown, "cases", 0) == "… cases (0 %)");
  CHECK(progress_text(3, 0, unknown, "cases", 0) == "… cases");
}

TEST_CASE("the time that is left is that of the part under way", "[terminal]") {
  const ProgressParts::Time start;
  ProgressParts parts(start);
  (void)parts.report(1, 4, "building", start + 5s);
  REQUIRE(parts.left(start + 5s));  // one of four took 5 s
  CHECK(parts.left(start + 5s)->count() == 15);
  (void)parts.report(0, 8, "calibrating", start + 60s);
  CHECK_FALSE(parts.left(start + 60s));
  // Two of eight took 10 s, so that six take 30 s; the minute before does not count.
  (void)parts.report(2, 8, "calibrating", start + 70s);
  REQUIRE(parts.left(start + 70s));
  CHECK(parts.left(start + 70s)->count() == 30);
  (void)parts.report(1, 8, "calibrating again", start + 80s);  // fewer than before
  CHECK_FALSE(parts.left(start + 80s));
  (void)parts.report(8, 8, "calibrating again", start + 90s);
  CHECK_FALSE(parts.left(start + 90s));
}

TEST_CASE("in a file or a pipe long work prints a line every ten seconds, or for another part",
          "[terminal]") {
  const ProgressParts::Time start;
  ProgressParts parts(start);
  const auto printed = [&](std::chrono::milliseconds at, double done, double total,
                           const char* message) {
    return parts.report(done, total, message, start + at);
  };
  CHECK(printed(0s, 0, 44, "check case 0 seed 0"));
  int lines = 0;
  for (int i = 1; i < 400; ++i)  // 40 seconds
    lines += printed(i * 100ms, i, 400, "check case 1 seed 2") ? 1 : 0;
  CHECK(lines == 4);  // at 2 s, for the total is another; then at 12, 22 and 32 s
  CHECK(printed(40s, 0, 400, "check case 2 seed 0"));    // counts anew
  CHECK_FALSE(printed(41s, 1, 400, "timed 2 samples"));  // too soon
  CHECK(printed(42s, 2, 400, "timed 4 samples"));        // other words
  CHECK_FALSE(printed(45s, 3, 400, "timed 8 samples"));
}

TEST_CASE("a table of versions says what its speed-ups compare", "[terminal]") {
  Json status{{"versions",
               {{{"version", "v0"}, {"median_ns", 5.1e6}},
                {{"version", "v1"}, {"median_ns", 1e6}, {"speedup_vs_v0", 5.0}}}}};
  const auto calm = versions_table(status);
  CHECK(calm.find("vs v0: timed beside v0, round by round") != std::string::npos);
  CHECK(calm.find("medians say") == std::string::npos);  // 2 % apart

  // v0 was profiled while something else used the machine; beside v1 it was 1.74 times as slow.
  status["versions"][1]["speedup_vs_v0"] = 1.74;
  CHECK(versions_table(status).find("v1: 1.74x beside v0, though the medians say 5.10x") !=
        std::string::npos);

  // Or its time depends on its inputs' values.
  status["versions"][1]["judged_on"] = "large";
  CHECK(versions_table(status).find("those are on normal values, and on large values it is at its "
                                    "worst. 1.74x counts.") != std::string::npos);

  status["versions"][1].erase("speedup_vs_v0");  // nothing is compared yet
  CHECK(versions_table(status).find("vs v0: ") == std::string::npos);
}

}  // namespace
}  // namespace ratchet::test
