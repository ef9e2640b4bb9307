// Where the time of an answer went, with real workers on the host.

#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "server/core/clock.h"
#include "server/core/files.h"
#include "tests/support/places.h"
#include "tests/support/workbench.h"

namespace ratchet {
namespace {

struct Timed {
  ToolAnswer answer;
  double ms = 0;  ///< of the call
  [[nodiscard]] const Json& spent() const { return answer.structured.at("spent"); }
};

Timed timed(test::Workbench& bench, const std::string& tool, const Json& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  Timed timed{bench.call(tool, arguments)};
  timed.ms = milliseconds_since(begin);
  INFO(tool << ": " << timed.answer.text);
  REQUIRE_FALSE(timed.answer.is_error);
  return timed;
}

std::vector<Timed> first_answers(test::Workbench& bench) {
  std::vector<Timed> answers;
  answers.push_back(timed(bench, "create_run",
                          {{"problem", "vector_add"},
                           {"implementation", "host-cpp"},
                           {"dims", {{"n", 4096}}},
                           {"output_dir", (bench.folder() / "out").string()}}));
  const Json run{{"run", answers.front().answer.structured.at("run")}};
  answers.push_back(timed(bench, "check_correctness", run));
  answers.push_back(timed(bench, "profile_kernel", run));
  return answers;
}

TEST_CASE("the steps of an answer add up to the time that it took", "[spent][slow]") {
  test::Workbench bench;

  for (const auto& [answer, ms] : first_answers(bench)) {
    INFO(answer.text);
    double sum = 0;
    for (const auto& step : answer.structured.at("spent"))
      if (!step.contains("within")) sum += step.at("ms").get<double>();
    CHECK(sum <= ms);
    CHECK(sum >= 0.9 * ms);
  }
}

TEST_CASE("what goes on side by side ends within its step", "[spent][slow]") {
  test::Workbench bench;

  const auto created = first_answers(bench).front();

  double whole = 0, longest = 0;
  for (const auto& step : created.spent()) {
    if (step.at("step") == "preparing") whole = step.at("ms");
    if (step.value("within", "") != "preparing") continue;
    longest = std::max(longest, step.at("ms").get<double>());
  }
  CHECK(longest > 0);
  CHECK(longest <= whole);
}

TEST_CASE("every step has its meaning in docs/measuring.md", "[spent][slow]") {
  test::Workbench bench;
  const auto page = read_file(test::source_dir() / "docs" / "measuring.md");
  REQUIRE(page);

  for (const auto& [answer, ms] : first_answers(bench))
    for (const auto& step : answer.structured.at("spent")) {
      INFO(step.dump());
      CHECK(page->find("`" + step.at("step").get<std::string>() + "`") != std::string::npos);
    }
}

TEST_CASE("the text of an answer says in one line where the time went", "[spent][slow]") {
  test::Workbench bench;

  for (const auto& [answer, ms] : first_answers(bench)) {
    INFO(answer.text);
    const auto at = answer.text.find("\nspent: ");
    REQUIRE(at != std::string::npos);
    CHECK(answer.text.find("\nspent:", at + 1) == std::string::npos);
    CHECK(answer.text.find(" s", at) != std::string::npos);
    CHECK(answer.text.find('\n', at + 1) == answer.text.size() - 1);
  }
}

}  // namespace
}  // namespace ratchet
