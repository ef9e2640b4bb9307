// Random sequences of calls (valid, early, late and repeated) by two servers, with files edited
// from outside, compared with a small model of the allowed order. RATCHET_SEQUENCES sets their
// number, RATCHET_FIRST_SEQUENCE the first seed.

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <random>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

namespace fs = samples::fs;

constexpr int kSteps = 40;

/// The expected state of a run, computed without the server's code.
struct Model {
  int last = 1;
  int retries = 2;
  int version = 0;
  std::string stage = "built";
  int used = 0;
  int rows = 1;
  bool kernel_query = false;
  bool bottleneck_query = false;  // since the profile
  bool methods = false;
  bool kernel_edited = false;
  bool artifact_edited = false;
  bool planned = false;    // there is a hypothesis
  bool abandoned = false;  // the last version was

  [[nodiscard]] bool is(std::initializer_list<const char*> stages) const {
    return std::ranges::any_of(stages, [&](const char* one) { return stage == one; });
  }
  [[nodiscard]] bool spent() const {
    return used >= retries && stage == (version == 0 ? "built" : "open");
  }
  void open_next() {
    ++version;
    stage = "open";
    used = 0;
    kernel_query = bottleneck_query = methods = planned = abandoned = false;
  }
  void back_to_open() {
    ++used;
    stage = version == 0 ? "built" : "open";
  }
};

/// One run, its model, and two servers that take turns.
class Walk {
 public:
  Walk(const samples::Workshop& shop, Runs& other, std::mt19937& random)
      : shop_(shop), other_(other), random_(random) {
    auto frozen = samples::contract(1 + static_cast<int>(random_() % 2));
    frozen.retries = 2;
    auto wanted = shop.new_run(frozen);
    static int folder = 0;
    wanted.output_dir = shop.out().parent_path() / fmt::format("walk{}", folder++);
    const auto made = server().create(wanted);
    REQUIRE(made);
    run_ = made->run;
    out_ = wanted.output_dir;
    model_.last = frozen.iterations;
  }
  ~Walk() {
    std::error_code ignored;
    fs::remove_all(out_, ignored);
  }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  void step() {
    switch (random_() % 17) {
      case 0:
      case 1:
        return submit();
      case 2:
      case 3:
        return check();
      case 4:
      case 5:
        return profile();
      case 6:
        return query();
      case 7:
      case 8:
        return evidence();
      case 9:
      case 10:
        return hypothesis();
      case 11:
      case 12:
        return gate();
      case 13:
        return final_gate();
      case 14:
        return explore();
      case 15:
        return others();
      default:
        return edit();
    }
  }

  /// The status agrees with the model.
  void compare() {
    const auto status = server().status(run_);
    REQUIRE(status);
    INFO(trail_);
    REQUIRE(std::string(name_of(status->stage)) == model_.stage);
    REQUIRE(status->version.number == model_.version);
    REQUIRE(status->versions.back().retries_used == model_.used);
    REQUIRE_FALSE(status->next.empty());
    const bool whole = !model_.kernel_edited && !model_.artifact_edited;
    REQUIRE(status->integrity.empty() == whole);
  }

  /// The ledger has grown by exactly the recorded rows, and it is intact.
  void audit() {
    INFO(trail_);
    const auto audit = server().audit(run_);
    REQUIRE(audit);
    REQUIRE(audit->rows == model_.rows);
    REQUIRE(audit->intact == (!model_.kernel_edited && !model_.artifact_edited));
  }

 private:
  Runs& server() { return random_() % 2 == 0 ? shop_.runs() : other_; }
  [[nodiscard]] bool chance(int of) { return random_() % static_cast<unsigned>(of) == 0; }

  template <class T>
  bool settle(const char* what, bool expected, const Result<T>& result) {
    trail_ += fmt::format("{} at v{} {} → {}\n", what, model_.version, model_.stage,
                          result ? "ok" : result.error().message);
    INFO(trail_);
    REQUIRE(result.has_value() == expected);
    if (result) {
      ++model_.rows;
      return true;
    }
    check_refusal(result.error());
    return false;
  }

  /// A refusal has the right code and names a tool that is allowed now.
  void check_refusal(const Error& error) {
    const bool known = error.code == ErrorCode::wrong_stage || error.code == ErrorCode::drift ||
                       error.code == ErrorCode::conflict ||
                       error.code == ErrorCode::invalid_argument;
    REQUIRE(known);
    if (error.code != ErrorCode::wrong_stage) return;
    auto allowed = server().status(run_)->allowed;
    allowed.emplace_back("run_status");
    INFO(error.message << " / " << error.hint);
    REQUIRE(std::ranges::any_of(allowed, [&](const std::string& tool) {
      return error.hint.find(tool) != std::string::npos;
    }));
  }

  std::string fresh_text() {
    static int number = 1000;
    return samples::kernel_text(++number);
  }

  void submit() {
    const bool may =
        model_.version > 0 && !model_.spent() &&
        model_.is({"open", "built", "correct", "profiled", "evidenced", "hypothesised"});
    const auto granted = server().permit(run_, Event::submitted);
    if (!granted) {
      settle("submit", false, granted);
      REQUIRE_FALSE(may);
      return;
    }
    REQUIRE(may);
    const bool builds = !chance(4);
    const auto text = fresh_text();
    const auto made = builds ? samples::candidate(text) : samples::failed_build(text);
    settle("submit", true, server().record_build(*granted, made, std::nullopt));
    if (!builds) return;
    model_.stage = "built";
    model_.planned = false;
    model_.kernel_edited = model_.artifact_edited = false;
  }

  void check() {
    const bool may = !model_.spent() && model_.is({"built", "correct"}) && !model_.kernel_edited;
    const auto granted = server().permit(run_, Event::checked);
    if (!granted) {
      settle("check", false, granted);
      REQUIRE_FALSE(may);
      return;
    }
    REQUIRE(may);
    const bool passes = !chance(3);
    settle(
        "check", true,
        server().record_correctness(*granted, samples::correctness(*granted->candidate, passes)));
    if (passes)
      model_.stage = "correct";
    else
      model_.back_to_open();
    model_.artifact_edited = false;  // the edited artifact, correctness.md, was written again
  }

  void profile() {
    const bool may = model_.is({"correct", "profiled"}) && !model_.kernel_edited;
    const auto granted = server().permit(run_, Event::profiled);
    if (!granted) {
      settle("profile", false, granted);
      REQUIRE_FALSE(may);
      return;
    }
    REQUIRE(may);
    const bool valid = !chance(5);
    const auto verdict = !valid                ? Verdict::invalid
                         : model_.version == 0 ? Verdict::baseline
                                               : Verdict::faster;
    settle("profile", true,
           server().record_profile(*granted, samples::profile(*granted, 900, 1.1, verdict)));
    model_.bottleneck_query = false;
    if (valid)
      model_.stage = "profiled";
    else
      model_.back_to_open();
  }

  void query() {
    for (const char* purpose : {"kernel", "bottleneck"}) {
      const std::string id = fmt::format("q-{}", purpose);
      const auto logged =
          server().record_query(run_, "words", purpose,
                                samples::answer(id, {std::string(purpose) == "kernel"
                                                         ? "technique-vectorized-loads"
                                                         : "pattern-host-memory-bandwidth"}));
      REQUIRE(logged);
      ++model_.rows;
    }
    model_.kernel_query = true;
    model_.bottleneck_query = model_.is({"profiled", "evidenced", "hypothesised", "finished"});
  }

  void evidence() {
    const bool stage = model_.is({"profiled", "evidenced", "hypothesised"});
    const bool may =
        stage && model_.kernel_query && model_.bottleneck_query && !model_.kernel_edited;
    if (settle("evidence", may, server().write_evidence(run_, samples::evidence()))) {
      model_.stage = "evidenced";
      model_.planned = false;
    }
  }

  void hypothesis() {
    static int number = 0;
    const bool may = model_.is({"evidenced", "hypothesised"}) && !model_.kernel_edited;
    const auto text = fmt::format("change number {}", ++number);
    if (settle("hypothesis", may, server().write_hypothesis(run_, samples::hypothesis(text)))) {
      model_.stage = "hypothesised";
      model_.planned = true;
    }
  }

  void gate() {
    const bool may = model_.stage == "hypothesised" && model_.version < model_.last &&
                     !model_.kernel_edited && !model_.artifact_edited;
    answer_of("gate", may, server().check_gate(run_, false, false));
    if (may) model_.open_next();
  }

  void final_gate() {
    const bool at_end = model_.version >= model_.last;
    const bool may = at_end && model_.is({"evidenced", "hypothesised", "abandoned", "finished"}) &&
                     !model_.kernel_edited && !model_.artifact_edited;
    const bool again = model_.stage == "finished";
    answer_of("final", may, server().check_gate(run_, true, false));
    if (!may) return;
    if (again) --model_.rows;
    model_.stage = "finished";
  }

  void answer_of(const char* what, bool expected, const Result<GateAnswer>& answer) {
    REQUIRE(answer);
    trail_ += fmt::format("{} at v{} {} → {}\n", what, model_.version, model_.stage,
                          answer->passed ? "passed" : answer->reasons.front().message);
    INFO(trail_);
    REQUIRE(answer->passed == expected);
    REQUIRE(answer->reasons.empty() == expected);
    if (expected) ++model_.rows;
  }

  /// Proposes methods, then explores branches of which one, none or all fail.
  void explore() {
    const bool open = model_.stage == "open" && !model_.spent();
    const auto proposed = server().propose_methods(run_, proposal());
    if (settle_proposal(open, proposed)) model_.methods = true;
    const auto granted = server().permit(run_, Event::explored);
    const bool may = open && model_.methods;
    if (!granted) {
      settle("explore", false, granted);
      REQUIRE_FALSE(may);
      return;
    }
    REQUIRE(may);
    const auto kind = random_() % 3;
    BranchesFact found;
    found.incumbent = granted->incumbent_version;
    found.branches = {samples::branch("b1", fresh_text(), kind == 0 ? 1.2 : 1.0, kind != 2)};
    settle("explore", true, server().record_branches(*granted, found));
    if (kind == 0) model_.stage = "correct";
    if (kind == 2) model_.back_to_open();
    if (kind == 0) model_.kernel_edited = model_.artifact_edited = false;
  }

  /// The sample profile has one gap, memory 0.2, so its budget is two methods on that axis.
  static std::vector<ProposedMethod> proposal() {
    return {{"memory.kernel_fusion", {}}, {"memory.coalesced_access", {}}};
  }

  bool settle_proposal(bool expected, const Result<ProposalAnswer>& answer) {
    trail_ += fmt::format("propose at v{} {} → {}\n", model_.version, model_.stage,
                          answer ? (answer->accepted ? "accepted" : answer->reasons.front().message)
                                 : answer.error().message);
    INFO(trail_);
    if (!expected) {
      REQUIRE_FALSE(answer);
      check_refusal(answer.error());
      return false;
    }
    REQUIRE(answer);
    if (answer->accepted) ++model_.rows;
    return answer->accepted;
  }

  void others() {
    switch (random_() % 4) {
      case 0: {
        const bool may = model_.version > 0 && model_.stage == "open" && model_.spent();
        const auto answer = server().check_gate(run_, false, true);
        if (!settle("abandon", may, answer)) return;
        if (model_.version < model_.last)
          model_.open_next();
        else
          model_.stage = "abandoned";
        model_.abandoned = model_.stage == "abandoned";
        return;
      }
      case 1:
        settle("report", model_.stage == "finished", server().write_report(run_, "words"));
        return;
      case 2:
        return extend();
      default:
        return stale();
    }
  }

  void extend() {
    if (!settle("extend", true, server().extend(run_, 1))) return;
    ++model_.last;
    if (model_.abandoned) return model_.open_next();
    if (model_.stage == "finished") model_.stage = model_.planned ? "hypothesised" : "evidenced";
  }

  /// A permit is void after another call has advanced the version.
  void stale() {
    const auto granted = server().permit(run_, Event::submitted);
    if (!granted) return check_refusal(granted.error());
    const auto first = samples::candidate(fresh_text());
    settle("submit", true, server().record_build(*granted, first, std::nullopt));
    model_.stage = "built";
    model_.kernel_edited = model_.artifact_edited = false;
    const auto late =
        server().record_build(*granted, samples::candidate(fresh_text()), std::nullopt);
    REQUIRE_FALSE(late);
    REQUIRE(late.error().code == ErrorCode::conflict);
  }

  /// Edits a file without the server, or restores it.
  void edit() {
    const auto folder = out_ / fmt::format("v{}", model_.version);
    if (model_.kernel_edited || model_.artifact_edited) {
      // As the message about drift says: the server then writes the file again.
      const auto aside = out_.parent_path() / "aside";
      if (model_.kernel_edited) fs::rename(folder / "kernel.cpp", aside);
      if (model_.artifact_edited) fs::rename(folder / "correctness.md", aside);
      REQUIRE(server().check_gate(run_, false, false));  // refused; writes missing files again
      const auto audit = server().audit(run_);
      if (audit && audit->intact) model_.kernel_edited = model_.artifact_edited = false;
      return;
    }
    if (fs::exists(folder / "correctness.md") && chance(2) && model_.stage != "built") {
      samples::put(folder / "correctness.md", "all is well");
      model_.artifact_edited = true;
    } else if (fs::exists(folder / "kernel.cpp") && model_.is({"built", "correct", "profiled"})) {
      samples::put(folder / "kernel.cpp", "faster");
      model_.kernel_edited = true;
    }
  }

  const samples::Workshop& shop_;
  Runs& other_;
  std::mt19937& random_;
  RunId run_;
  fs::path out_;
  Model model_;
  std::string trail_;
};

int from_environment(const char* name, int usual) {
  const char* const wanted = std::getenv(name);
  return wanted == nullptr ? usual : std::atoi(wanted);
}

void walk(int count, unsigned seed) {
  constexpr int kOfOneLedger = 200;
  for (int done = 0; done < count; done += kOfOneLedger) {
    const samples::Workshop shop;
    const auto other = shop.another();
    for (int i = done; i < std::min(count, done + kOfOneLedger); ++i) {
      std::mt19937 random(seed + static_cast<unsigned>(i));
      INFO("sequence " << seed + static_cast<unsigned>(i));
      Walk one(shop, *other, random);
      for (int step = 0; step < kSteps; ++step) {
        one.step();
        one.compare();
      }
      one.audit();
    }
  }
}

TEST_CASE("no sequence of calls leads to an unexpected state", "[runs][order][slow]") {
  walk(40, 1);
}

TEST_CASE("no sequence of a thousand leads to an unexpected state", "[runs][order][slow]") {
  walk(from_environment("RATCHET_SEQUENCES", 1000),
       static_cast<unsigned>(from_environment("RATCHET_FIRST_SEQUENCE", 1000)));
}

}  // namespace
}  // namespace ratchet
