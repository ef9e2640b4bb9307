#include "server/offers/completions.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/places.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using Values = std::vector<std::string>;

/// One run with its first artifacts.
struct OneRun {
  samples::FastFolder folder;
  std::unique_ptr<Runs> runs = *Runs::open(folder.path() / "state", {.durable = false});
  std::string id = create();

  std::string create() {
    auto view = runs->create({.contract = samples::contract(),
                              .environment = samples::environment(),
                              .v0 = samples::candidate(samples::kernel_text(0)),
                              .warnings = {},
                              .output_dir = folder.path() / "out",
                              .overwrite = false,
                              .secret = "s"});
    REQUIRE(view);
    return view->run.text;
  }
};

TEST_CASE("run ids complete from what was typed", "[offers]") {
  OneRun one;

  CHECK(run_ids(*one.runs)("", {}) == Values{one.id});
  CHECK(run_ids(*one.runs)(one.id.substr(0, 3), {}) == Values{one.id});
  CHECK(run_ids(*one.runs)("zz", {}).empty());
}

TEST_CASE("versions and artifacts complete for the run in the other arguments", "[offers]") {
  OneRun one;

  CHECK(versions(*one.runs)("v", {{"run", one.id}}) == Values{"v0"});
  CHECK(versions(*one.runs)("", {}).empty());
  CHECK(artifacts(*one.runs)("contract", {{"run", one.id}}) == Values{"contract.json"});
  CHECK(artifacts(*one.runs)("build", {{"run", one.id}, {"version", "v0"}}) == Values{"build.md"});
}

TEST_CASE("a version argument cannot name another folder", "[offers]") {
  OneRun one;

  CHECK(artifacts(*one.runs)("", {{"run", one.id}, {"version", "../state"}}).empty());
}

TEST_CASE("page ids complete from the bundled knowledge base", "[offers]") {
  auto knowledge = Knowledge::open(
      {.builtin_index = test::build_dir() / "share/ratchet/kbs/builtin.db", .user_index = {}});
  REQUIRE(knowledge);

  const auto ids = page_ids(**knowledge)("pattern-", {});

  CHECK_FALSE(ids.empty());
  for (const auto& id : ids) CHECK(id.starts_with("pattern-"));
}

}  // namespace
}  // namespace ratchet
