// Every state of a run, every tool and every refusal: what the answer says to call works.

#include "server/runs/rules/guidance.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <set>

#include "tests/support/obedient_agent.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

struct State {
  const char* name;
  std::function<void(const Workshop&)> reach;
};

void fail_check(const Workshop& shop, int times) {
  for (int i = 0; i < times; ++i) {
    if (shop.status().version.number > 0) shop.submit(samples::kernel_text(70 + i));
    shop.check(false);
  }
}

void pass_v0(const Workshop& shop) {
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
}

void reach_last(const Workshop& shop) {
  pass_v0(shop);
  shop.finish_version(1);
  shop.write_hypothesis("unroll");
  REQUIRE(shop.gate().passed);
}

void finish(const Workshop& shop) {
  reach_last(shop);
  shop.finish_version(2);
  REQUIRE(shop.gate(true).passed);
}

void edit(const Workshop& shop, const char* path) {
  samples::put(shop.out() / path, "edited by hand");
}

void take_folder(const Workshop& shop) {
  auto next = shop.new_run(samples::contract());
  next.overwrite = true;
  REQUIRE(shop.runs().create(next));
}

/// Every situation that a run of two iterations and three retries can be in.
const std::vector<State>& states() {
  static const std::vector<State> all{
      {"v0 built", [](const Workshop&) {}},
      {"v0 failed once", [](const Workshop& shop) { fail_check(shop, 1); }},
      {"v0 failed for good", [](const Workshop& shop) { fail_check(shop, 3); }},
      {"v0 correct", [](const Workshop& shop) { shop.check(); }},
      {"v0 measured invalidly",
       [](const Workshop& shop) {
         shop.check();
         shop.measure(1000, 1, Verdict::invalid);
       }},
      {"v0 profiled",
       [](const Workshop& shop) {
         shop.check();
         shop.measure();
       }},
      {"v0 profiled and queried",
       [](const Workshop& shop) {
         shop.check();
         shop.measure();
         shop.query();
       }},
      {"v0 evidenced",
       [](const Workshop& shop) {
         shop.check();
         shop.measure();
         shop.write_evidence();
       }},
      {"v0 hypothesised", [](const Workshop& shop) { shop.finish_v0(); }},
      {"v1 open", pass_v0},
      {"v1 with methods",
       [](const Workshop& shop) {
         pass_v0(shop);
         REQUIRE_FALSE(Agent(shop).call("propose_methods").refused);
       }},
      {"v1 built",
       [](const Workshop& shop) {
         pass_v0(shop);
         shop.submit(samples::kernel_text(1));
       }},
      {"v1 failed once",
       [](const Workshop& shop) {
         pass_v0(shop);
         fail_check(shop, 1);
       }},
      {"v1 failed for good",
       [](const Workshop& shop) {
         pass_v0(shop);
         fail_check(shop, 3);
       }},
      {"v1 evidenced",
       [](const Workshop& shop) {
         pass_v0(shop);
         shop.finish_version(1);
       }},
      {"last version open", reach_last},
      {"last version profiled",
       [](const Workshop& shop) {
         reach_last(shop);
         shop.submit(samples::kernel_text(2));
         shop.check();
         shop.measure();
       }},
      {"last version evidenced",
       [](const Workshop& shop) {
         reach_last(shop);
         shop.finish_version(2);
       }},
      {"last version hypothesised",
       [](const Workshop& shop) {
         reach_last(shop);
         shop.finish_version(2);
         shop.write_hypothesis("one more");
       }},
      {"last version failed for good",
       [](const Workshop& shop) {
         reach_last(shop);
         fail_check(shop, 3);
       }},
      {"last version abandoned",
       [](const Workshop& shop) {
         reach_last(shop);
         fail_check(shop, 3);
         REQUIRE(shop.runs().check_gate(shop.run, false, true));
       }},
      {"finished", finish},
      {"finished and benchmarked",
       [](const Workshop& shop) {
         finish(shop);
         REQUIRE_FALSE(Agent(shop).call("benchmark").refused);
       }},
      {"reported",
       [](const Workshop& shop) {
         finish(shop);
         REQUIRE_FALSE(Agent(shop).call("benchmark").refused);
         REQUIRE_FALSE(Agent(shop).call("write_report").refused);
       }},
      {"extended",
       [](const Workshop& shop) {
         finish(shop);
         REQUIRE(shop.runs().extend(shop.run, 1));
       }},
      {"v0 edited", [](const Workshop& shop) { edit(shop, "v0/kernel.cpp"); }},
      {"v1 edited",
       [](const Workshop& shop) {
         pass_v0(shop);
         shop.submit(samples::kernel_text(1));
         edit(shop, "v1/kernel.cpp");
       }},
      {"v1 and v0 edited",
       [](const Workshop& shop) {
         pass_v0(shop);
         shop.submit(samples::kernel_text(1));
         edit(shop, "v1/kernel.cpp");
         edit(shop, "v0/correctness.md");
       }},
      {"last kernel edited after the end",
       [](const Workshop& shop) {
         finish(shop);
         edit(shop, "v2/kernel.cpp");
       }},
      {"contract edited", [](const Workshop& shop) { edit(shop, "contract.json"); }},
      {"files of a later version", [](const Workshop& shop) { edit(shop, "v1/kernel.cpp"); }},
      {"folder of another run before v0 was correct", take_folder},
      {"folder of another run",
       [](const Workshop& shop) {
         pass_v0(shop);
         take_folder(shop);
       }},
  };
  return all;
}

TEST_CASE("in every state, the call that a refusal or the status names works",
          "[gate][voice][slow]") {
  int refusals = 0;
  for (const auto& state : states()) {
    for (const auto& tool : Agent::tools()) {
      const Workshop shop;
      state.reach(shop);
      Agent agent(shop);
      auto outcome = agent.call(tool, "create_run with a new output_dir");
      INFO(state.name << ": " << tool << ": " << outcome.text);
      if (!outcome.refused) continue;
      ++refusals;
      // The call works, or its own refusal names one that does.
      outcome = agent.follow(outcome.text.substr(outcome.text.find('\n') + 1));
      if (outcome.refused) {
        INFO("then: " << outcome.text);
        outcome = agent.follow(outcome.text.substr(outcome.text.find('\n') + 1));
        INFO("and then: " << outcome.text);
        CHECK_FALSE(outcome.refused);
      }
    }
    const Workshop shop;
    state.reach(shop);
    const auto next = shop.status().next;
    INFO(state.name << ": " << next);
    CHECK_FALSE(Agent(shop).follow(next).refused);
  }
  CHECK(refusals > 150);
}

TEST_CASE("following `next` alone leads from every state to a finished report or another run",
          "[gate][voice]") {
  for (const auto& state : states()) {
    const Workshop shop;
    state.reach(shop);
    Agent agent(shop);
    std::string trail = state.name;
    bool over = false;
    for (int step = 0; step < 60 && !over; ++step) {
      const auto next = shop.status().next;
      trail += "\n" + next;
      over = next.find("create_run") != std::string::npos || next.find("The run is complete") == 0;
      INFO(trail);
      CHECK_FALSE(agent.follow(next).refused);
    }
    INFO(trail);
    CHECK(over);
  }
}

TEST_CASE("`allowed` lists exactly the steps that are not refused", "[gate][voice][slow]") {
  const std::set<std::string> steps{"submit_kernel",    "check_correctness", "profile_kernel",
                                    "write_hypothesis", "propose_methods",   "explore_branches",
                                    "ablate",           "tune_dispatch",     "write_report"};
  for (const auto& state : states()) {
    const Workshop shop;
    state.reach(shop);
    const auto status = shop.status();
    // Files that stop a step are moved first; `allowed` is about the order of steps.
    if (!status.integrity.empty() && status.integrity.front().code != "folder_taken") continue;
    for (const auto& tool : steps) {
      const Workshop fresh;
      state.reach(fresh);
      const auto outcome = Agent(fresh).call(tool);
      INFO(state.name << ": " << tool << ": " << outcome.text);
      CHECK(outcome.refused == (std::ranges::count(status.allowed, tool) == 0));
    }
  }
}

TEST_CASE("on the last version a report asks for the final gate, not for a hypothesis", "[voice]") {
  const Workshop shop;
  reach_last(shop);
  shop.finish_version(2);

  const auto report = shop.runs().write_report(shop.run, "");
  REQUIRE_FALSE(report);
  CHECK(report.error().hint ==
        "v2 is the last version: call check_gate with final: true, or extend_run for more.");
  CHECK(samples::codes(shop.gate().reasons) == std::vector<std::string>{"last_version"});
}

TEST_CASE("a v0 that failed its check asks for another run, not for the same check", "[voice]") {
  const Workshop shop;
  shop.check(false);

  const auto status = shop.status();
  CHECK(status.next.find("call create_run with a kernel that matches its reference") !=
        std::string::npos);
  CHECK(status.allowed ==
        std::vector<std::string>{"create_run", "check_correctness", "run_status"});
}

TEST_CASE("after the report the run is complete; a newer benchmark asks for a newer report",
          "[voice]") {
  const Workshop shop;
  finish(shop);
  Agent agent(shop);
  CHECK(shop.status().next == "Call benchmark, then write_report.");
  REQUIRE_FALSE(agent.call("benchmark").refused);
  CHECK(shop.status().next == "Call write_report.");
  REQUIRE_FALSE(agent.call("write_report").refused);
  CHECK(shop.status().next.find("The run is complete") == 0);
  REQUIRE_FALSE(agent.call("benchmark").refused);
  CHECK(shop.status().next == "Call write_report.");
}

TEST_CASE("a run whose folder was given to another says so in one line and writes nothing there",
          "[voice][drift]") {
  const Workshop shop;
  pass_v0(shop);
  take_folder(shop);
  const auto contract = samples::text_of(shop.out() / "contract.json");

  const auto status = shop.status();
  REQUIRE(samples::codes(status.integrity) == std::vector<std::string>{"folder_taken"});
  CHECK(status.integrity.front().message.find(shop.out().string() + " now belongs to run shift-") ==
        0);
  CHECK(status.next.find("call create_run with fork_from") != std::string::npos);
  CHECK_FALSE(shop.runs().record_query(shop.run, "words", "kernel", samples::answer("q", {"p"})));
  CHECK_FALSE(shop.runs().check_gate(shop.run, false, false));
  CHECK_FALSE(shop.runs().extend(shop.run, 1));
  CHECK(samples::text_of(shop.out() / "contract.json") == contract);
  CHECK(samples::text_of(shop.out() / "current_iteration.txt") == "v0\n");
  CHECK_FALSE(fs::exists(shop.out() / "v0" / "correctness.md"));
}

TEST_CASE("a contract that is edited, but names its own run, is drift and not another run",
          "[voice][drift]") {
  const Workshop shop;
  auto text = samples::text_of(shop.out() / "contract.json");
  samples::put(shop.out() / "contract.json", text + "\n");

  CHECK(samples::codes(shop.status().integrity) == std::vector<std::string>{"contract_changed"});
}

}  // namespace
}  // namespace ratchet
