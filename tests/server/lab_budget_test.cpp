// How much of a lab a run may use: counted, kept, enforced, and raised by the user.

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

using namespace std::chrono_literals;

/// A server that knows a lab which takes 2 EUR a second. Every call is a new server.
class PricedLab {
 public:
  PricedLab() {
    REQUIRE(write_file(folder_ / "labs.yaml",
                       "- name: far\n  cost: 2\n  currency: EUR\n  command: " + program() +
                           " --state-dir " + (folder_ / "far").string() + " lab\n"));
  }

  Captured run(std::vector<std::string> words) const {
    std::vector<std::string> argv{program(),
                                  "--json",
                                  "--state-dir",
                                  (folder_ / "near").string(),
                                  "--root",
                                  folder_.path().string(),
                                  "--no-builtin-kbs",
                                  "--labs",
                                  (folder_ / "labs.yaml").string()};
    argv.insert(argv.end(), words.begin(), words.end());
    auto done =
        run_program({.argv = argv,
                     .environment = inherited_environment({"PATH", "HOME", "LD_LIBRARY_PATH"}),
                     .folder = folder_.path()},
                    240s);
    REQUIRE(done);
    return *std::move(done);
  }
  Json must(const std::vector<std::string>& words) const {
    const auto done = run(words);
    INFO(done.err);
    REQUIRE(done.status.clean());
    return Json::parse(done.out);
  }
  [[nodiscard]] Captured create(const Json& more) const {
    Json task{{"problem", "vector_add"},
              {"implementation", "host-cpp"},
              {"dims", {{"n", 20000}}},
              {"output_dir", (folder_ / "run").string()},
              {"wait_s", 200}};
    task.update(more);
    return run({"call", "create_run", task.dump()});
  }
  [[nodiscard]] std::string created(const Json& more) const {
    const auto done = create(more);
    INFO(done.err);
    REQUIRE(done.status.clean());
    return Json::parse(done.out)["run"];
  }
  [[nodiscard]] Json used(const std::string& run) const {
    return must({"call", "run_status", Json{{"run", run}}.dump()})["labs"];
  }
  [[nodiscard]] const TempFolder& folder() const { return folder_; }

 private:
  static std::string program() { return (build_dir() / "bin/ratchet").string(); }

  TempFolder folder_;
};

std::string step(const std::string& run) {
  return Json{{"run", run}, {"wait_s", 200}}.dump();
}

bool says(const Captured& done, const std::string& part) {
  INFO(done.err);
  CHECK(done.err.find(part) != std::string::npos);
  return done.err.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what a run uses of a lab is kept over servers, with its cost", "[labs][slow]") {
  const PricedLab lab;

  const auto run = lab.created({{"lab", "far"}, {"max_lab_seconds", 600}});
  const auto first = lab.used(run);
  lab.must({"call", "check_correctness", step(run)});
  const auto second = lab.used(run);

  CHECK(first["lab"] == "far");
  CHECK(first["seconds"].get<double>() > 0);
  CHECK(first["max_lab_seconds"] == 600);
  CHECK(second["seconds"].get<double>() > first["seconds"].get<double>());
  // 2 EUR a second.
  CHECK(second["cost"].get<double>() / second["seconds"].get<double>() > 1.99);
  CHECK(second["cost"].get<double>() / second["seconds"].get<double>() < 2.01);
  CHECK(second["currency"] == "EUR");
  CHECK(lab.run({"show", run}).out.find("max_lab_seconds") != std::string::npos);
}

TEST_CASE("at its limit a run measures no more until the user allows more", "[labs][slow]") {
  const PricedLab lab;
  const auto run = lab.created({{"lab", "far"}});

  const auto limited = lab.must({"budget", run, "--max-lab-seconds", "0.001"});
  const auto refused = lab.run({"call", "check_correctness", step(run)});
  const auto dear = lab.must({"budget", run, "--max-lab-seconds", "900", "--max-cost", "0.001"});
  const auto too_dear = lab.run({"call", "check_correctness", step(run)});
  lab.must({"budget", run, "--max-cost", "5000"});
  const auto checked = lab.must({"call", "check_correctness", step(run)});

  CHECK(limited["labs"]["max_lab_seconds"] == 0.001);
  CHECK_FALSE(refused.status.clean());
  says(refused, "max_lab_seconds: the run has used");
  says(refused, "ratchet budget " + run);
  CHECK(dear["stage"] == "built");
  CHECK_FALSE(too_dear.status.clean());
  says(too_dear, "max_cost: the run has used labs for");
  CHECK(checked["passed"] == true);
}

TEST_CASE("a call that reaches the limit is cut off there, and nothing of it is recorded",
          "[labs][slow]") {
  const PricedLab lab;
  const auto run = lab.created({{"lab", "far"}});
  lab.must({"call", "check_correctness", step(run)});
  const double before = lab.used(run)["seconds"];
  // Timing a kernel, with what calibrates the noise of the machine before it, takes seconds.
  lab.must({"budget", run, "--max-lab-seconds", std::to_string(before + 0.5)});

  const auto cut = lab.run({"call", "profile_kernel", step(run)});
  const auto status = lab.must({"call", "run_status", Json{{"run", run}}.dump()});

  CHECK_FALSE(cut.status.clean());
  says(cut, "the call was cut off there");
  CHECK(status["stage"] == "correct");
  CHECK_FALSE(status["versions"][0].contains("median_ns"));
  // The time of the call counts: at least up to the limit.
  CHECK(status["labs"]["seconds"].get<double>() >= before + 0.5);
}

TEST_CASE("a run that would be created beyond its budget is not", "[labs]") {
  const PricedLab lab;

  const auto done = lab.create({{"lab", "far"}, {"max_lab_seconds", 0.01}});

  CHECK_FALSE(done.status.clean());
  says(done, "No run was created");
  CHECK(lab.must({"runs"})["runs"].empty());
}

TEST_CASE("a budget needs a lab, and one of money needs a price", "[labs]") {
  const PricedLab lab;
  REQUIRE(write_file(lab.folder() / "labs.yaml", "- {name: far, command: exit 3}\n"));

  const auto here = lab.create({{"max_lab_seconds", 60}});
  const auto free = lab.create({{"lab", "far"}, {"max_cost", 3}});
  const auto local = lab.create(Json::object());

  CHECK_FALSE(here.status.clean());
  says(here, "max_lab_seconds: the run is on this machine");
  CHECK_FALSE(free.status.clean());
  says(free, "max_cost: lab \"far\" has no cost");
  CHECK(local.status.clean());
}

}  // namespace ratchet::test
