// A search for input values that a kernel answers wrongly.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "kernels/judge/examiner.h"
#include "kernels/judge/recipe_source.h"
#include "kernels/judge/verdicts.h"
#include "kernels/lab/laboratory.h"
#include "server/core/clock.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

constexpr int kSearchArenas = 2;
constexpr int kMostSearched = 512;
constexpr std::size_t kMostBad = 3;  // enough to mend a kernel by

/// A kernel with a judge of its own.
struct Asked {
  std::unique_ptr<CandidateProcess> process;
  std::unique_ptr<Examiner> examiner;
};

Result<Asked> start_asking(LabParts& lab, const Contract& contract, const Candidate& candidate,
                           const CallContext& call) {
  auto plan = lab.start_plan(contract, candidate, CandidateProcess::Use::time, kSearchArenas, call);
  if (!plan) return plan.error();
  auto process = CandidateProcess::launch(plan->spec, plan->deadline);
  if (!process) return process.error();
  Asked asked{std::make_unique<CandidateProcess>(*std::move(process)), nullptr};
  auto examiner =
      open_examiner(lab.reference_parts(contract), contract, *asked.process, plan->code, call);
  if (!examiner) return examiner.error();
  asked.examiner = *std::move(examiner);
  return asked;
}

/// What is wrong with a kernel's answer; empty if nothing is.
std::optional<Reason> what_is_wrong(const Asked& asked,
                                    const std::optional<Examination>& examined) {
  if (asked.process->fault()) return reason_of(*asked.process->fault());
  if (!examined || examined->dropped || examined->verdict.passed) return std::nullopt;
  const auto reasons = reasons_of(examined->verdict);
  return reasons.empty() ? std::optional(Reason{"mismatch", "the answer is wrong", {}, {}})
                         : std::optional(reasons.front());
}

/// A search in progress.
struct Search {
  LabParts& lab;
  const Contract& contract;
  const ValueSearchRequest& request;
  const CallContext& call;
  SearchedValues found{};
  std::vector<std::string> bad{};

  Status take(const Asked& asked, const Question& question,
              const std::optional<Examination>& examined);
  /// Whether the kernel that the run began with is right there.
  Result<bool> can_be_right(const Question& question);
};

Result<bool> Search::can_be_right(const Question& question) {
  if (request.yardstick == nullptr) return true;
  auto asked = start_asking(lab, contract, *request.yardstick, call);
  if (!asked) return asked.error();
  auto examined = asked->examiner->examine(question, call);
  if (!examined) return examined.error();
  return !what_is_wrong(*asked, *examined);
}

Status Search::take(const Asked& asked, const Question& question,
                    const std::optional<Examination>& examined) {
  auto& search = found.search;
  if (examined && examined->dropped) ++search.dropped;
  if (examined && examined->strain && examined->strain > search.strain.value_or(0)) {
    search.strain = examined->strain;
    search.hardest = question.distribution;
  }
  auto wrong = what_is_wrong(asked, examined);
  if (!wrong) return {};
  auto fair = can_be_right(question);
  if (!fair) return fair.error();
  if (!*fair) {
    search.notes.push_back(fmt::format("{}: {}, but so is v0's answer: not held against it",
                                       question.distribution, wrong->text()));
    return {};
  }
  bad.push_back(question.distribution);
  if (asked.process->fault()) found.fault = asked.process->fault();
  if (examined)
    found.cases.push_back(
        result_of(contract.cases.front(), 0, question.distribution, examined->verdict));
  wrong->message += fmt::format(" ({}, {} values, found by a search)", dims_text(question.dims),
                                question.distribution);
  found.reasons.push_back(*std::move(wrong));
  return {};
}

}  // namespace

Result<SearchedValues> Laboratory::search_values(const Contract& contract,
                                                 const ValueSearchRequest& request,
                                                 std::string_view run_secret, CallContext& call) {
  auto turn = queue.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  const auto& one = contract.cases.front();
  auto compiled = compile_for(contract, *request.candidate, {one}, call);
  if (!compiled) return compiled.error();
  auto asked = start_asking(*this, contract, *request.candidate, call);
  if (!asked) return asked.error();
  const auto begin = steady_clock::now();
  const auto seed = [&](std::string_view what) {
    return trial_seed(run_secret, request.candidate->build.binary_digest, what);
  };
  RecipeSource recipes(contract, seed("search"));
  Search search{*this, contract, request, call};
  auto& seen = search.found.search;
  while (milliseconds_since(begin) < 1000 * request.seconds && seen.tried < kMostSearched &&
         search.bad.size() < kMostBad && !asked->process->fault()) {
    const auto values = recipes.next();
    if (!values) break;
    call.progress(milliseconds_since(begin), 1000 * request.seconds, "searching: " + *values);
    const auto own = seed("search " + *values);
    const Question question{one.dims, *values, own, false, true};
    ++seen.tried;
    auto examined = asked->examiner->examine(question, call);
    if (!examined && examined.error().code == ErrorCode::invalid_argument) {
      // The reference's own failure, on values that nobody promised.
      seen.notes.push_back(fmt::format("ended: on {} values the reference failed: {}", *values,
                                       examined.error().message));
      break;
    }
    if (!examined) return examined.error();
    if (auto taken = search.take(*asked, question, *examined); !taken) return taken.error();
    if (*examined) recipes.learn(*values, (*examined)->strain.value_or(0));
  }
  if (seen.tried == 0) seen.notes.emplace_back("no input may take other values than the check's");
  keep_values(contract, std::move(search.bad), seen);
  seen.seconds = milliseconds_since(begin) / 1000;
  return std::move(search.found);
}

}  // namespace ratchet
