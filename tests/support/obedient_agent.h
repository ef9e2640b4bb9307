#pragma once

// An agent that does what the server's sentences say, and knows nothing else.

#include <fmt/format.h>

#include <regex>
#include <string>

#include "server/runs/runs.h"
#include "tests/support/runs_samples.h"

namespace ratchet {

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

inline Outcome outcome_of(const Result<GateAnswer>& answer) {
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

}  // namespace ratchet
