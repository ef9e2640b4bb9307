// Every state of a run, every tool and every refusal: what the answer says to call works.

#include "server/runs/rules/guidance.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <regex>
#include <set>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

namespace fs = samples::fs;
using samples::Workshop;

struct Outcome {
  bool refused = false;
  std::string text;  ///< message and hint of a refusal; what to do next after a gate
};

template <class T>
Outcome outcome_of(const Result<T>& result) {
  if (result) return {};
  return {true, result.error().message + "\n" + result.error().hint};
}

Outcome outcome_of(const Result<GateAnswer>& answer) {
  if (!answer) return {true, answer.error().message + "\n" + answer.error().hint};
  return {!answer->passed, answer->next.value_or("")};
}

/// Does what a sentence says, as an agent would that knows nothing but this sentence.
class Agent {
 public:
  explicit Agent(const Workshop& shop) : shop_(shop) {}

  /// Calls one tool of the loop, with the arguments that `text` mentions.
  Outcome call(const std::string& tool, const std::string& text = "") {
    auto& runs = shop_.runs();
    const RunId& run = shop_.run;
    const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
    if (tool == "submit_kernel") return submit(text);
    if (tool == "check_correctness")
      return step(Event::checked, [&](const Permit& permit) {
        return outcome_of(runs.record_correctness(permit, samples::correctness(*permit.candidate)));
      });
    if (tool == "profile_kernel")
      return step(Event::profiled, [&](const Permit& permit) {
        return outcome_of(
            runs.record_profile(permit, samples::profile(permit, 900, 1.1, Verdict::faster)));
      });
    if (tool == "query_kbs") {
      const auto refused = outcome_of(runs.record_query(
          run, "words", "kernel", samples::answer("q-kernel", {"technique-vectorized-loads"})));
      if (!refused.refused) shop_.query();
      return refused;
    }
    if (tool == "write_kbs_evidence")
      return outcome_of(runs.write_evidence(run, samples::evidence()));
    if (tool == "write_hypothesis")
      return outcome_of(
          runs.write_hypothesis(run, samples::hypothesis(fmt::format("change {}", ++count_))));
    if (tool == "check_gate")
      return outcome_of(runs.check_gate(run, says("final: true"), says("abandon: true")));
    if (tool == "benchmark")
      return step(Event::benchmarked, [&](const Permit& permit) {
        return outcome_of(
            runs.record_benchmark(permit, samples::benchmark(*permit.candidate, 900)));
      });
    if (tool == "propose_methods")
      return outcome_of(runs.propose_methods(
          run, {{"memory.kernel_fusion", {}}, {"memory.coalesced_access", {}}}));
    if (tool == "explore_branches") return outcome_of(runs.permit(run, Event::explored));
    if (tool == "ablate") return outcome_of(runs.permit(run, Event::ablated));
    if (tool == "sanitize_kernel") return outcome_of(runs.permit(run, Event::sanitized));
    if (tool == "tune_dispatch") return outcome_of(runs.permit(run, Event::tuned));
    if (tool == "disassemble") return outcome_of(runs.subject(run, std::nullopt));
    if (tool == "restart_partial") return outcome_of(runs.restart_partial(run));
    if (tool == "write_report") return outcome_of(runs.write_report(run, "words"));
    if (tool == "extend_run") return outcome_of(runs.extend(run, 1));
    if (tool == "run_status") return outcome_of(runs.status(run));
    if (tool == "create_run") return create(text);
    FAIL("the answer names " << tool << ", which no one knows");
    return {};
  }

  /// Moves files where the sentence asks for it, then makes the first call that it names.
  Outcome follow(const std::string& text) {
    for (const char* bad : {"delete", "overwrite", "remove "})
      CHECK(text.find(bad) == std::string::npos);
    std::smatch move;
    static const std::regex first("First move (.*) out of ([^;]*);");
    if (std::regex_search(text, move, first)) {
      std::string names = move[1];
      for (std::size_t at = 0; at != std::string::npos;) {
        const auto end = names.find(", ", at);
        const auto path = fs::path(move[2].str()) / names.substr(at, end - at);
        fs::rename(path, shop_.out().parent_path() / fmt::format("aside{}", ++count_));
        at = end == std::string::npos ? end : end + 2;
      }
    }
    const std::string tool = first_tool(text);
    INFO("it names no call: " << text);
    REQUIRE_FALSE(tool.empty());
    return call(tool, text);
  }

  static const std::vector<std::string>& tools() {
    static const std::vector<std::string> all{"submit_kernel",    "check_correctness",
                                              "profile_kernel",   "write_kbs_evidence",
                                              "write_hypothesis", "check_gate",
                                              "benchmark",        "propose_methods",
                                              "explore_branches", "ablate",
                                              "sanitize_kernel",  "tune_dispatch",
                                              "disassemble",      "restart_partial",
                                              "write_report",     "extend_run",
                                              "run_status",       "query_kbs",
                                              "create_run"};
    return all;
  }

 private:
  static std::string first_tool(const std::string& text) {
    std::string found;
    std::size_t best = std::string::npos;
    for (const auto& tool : tools())
      if (const auto at = text.find(tool); at < best) {
        best = at;
        found = tool;
      }
    return found;
  }

  template <class Record>
  Outcome step(Event event, Record record) {
    const auto permit = shop_.runs().permit(shop_.run, event);
    if (!permit) return outcome_of(permit);
    return record(*permit);
  }

  Outcome submit(const std::string& text) {
    return step(Event::submitted, [&](const Permit& permit) {
      std::string source = samples::kernel_text(500 + ++count_);
      std::smatch path;
      static const std::regex given("path: (\\S*)");
      if (std::regex_search(text, path, given)) source = samples::text_of(path[1].str());
      return outcome_of(
          shop_.runs().record_build(permit, samples::candidate(source), std::nullopt));
    });
  }

  Outcome create(const std::string& text) {
    CHECK(text.find("new output_dir") != std::string::npos);
    auto frozen = samples::contract();
    std::smatch fork;
    static const std::regex from("\"run\": \"([^\"]*)\", \"version\": \"v([0-9]+)\"");
    if (std::regex_search(text, fork, from)) {
      const auto source = shop_.runs().fork_source({RunId{fork[1]}, VersionId{std::stoi(fork[2])}});
      if (!source) return outcome_of(source);
      frozen = source->contract;
    }
    auto wanted = shop_.new_run(frozen);
    wanted.output_dir = shop_.out().parent_path() / fmt::format("another{}", ++count_);
    return outcome_of(shop_.runs().create(wanted));
  }

  const Workshop& shop_;
  int count_ = 0;
};

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

TEST_CASE("in every state, the call that a refusal or the status names works", "[gate][voice]") {
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

TEST_CASE("`allowed` lists exactly the steps that are not refused", "[gate][voice]") {
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
