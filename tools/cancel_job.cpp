
#include <chrono>

#include "server/core/background_calls.h"
#include "tools/all.h"

namespace ratchet {
namespace {

/// Work checks for cancellation about every 50 ms; what takes longer shows in run_status.
constexpr std::chrono::seconds kPatience{2};

struct CancelJobArgs {
  std::string job;

  static constexpr void fields(auto&& visit) {
    visit(required<&CancelJobArgs::job>("Job id from a tool's answer.", {.max_length = 100}));
  }
};

struct CancelJobAnswer {
  std::string job;
  CallState state = CallState::working;
  std::string next;

  static constexpr void fields(auto&& visit) {
    using A = CancelJobAnswer;
    visit(required<&A::job>("Job id."),
          required<&A::state>("completed when the job was done before it could be canceled."),
          required<&A::next>("What to do next."));
  }
};

}  // namespace

Tool cancel_job(const Services& services) {
  return make_tool<CancelJobArgs, CancelJobAnswer>(
      {.name = "cancel_job",
       .summary = "Cancel the job of a call that is still running; none of its work is recorded.",
       .effect = Effect::writes,
       .toolset = Toolset::loop,
       .idempotent = true},
      [&jobs = services.jobs](const CancelJobArgs& args,
                              CallContext& call) -> Result<CancelJobAnswer> {
        const auto job = jobs.find(args.job);
        if (!job) return unknown_job(args.job);
        job->cancel();
        job->wait(call, std::chrono::steady_clock::now() + kPatience);
        const CallSnapshot view = job->snapshot();
        return CancelJobAnswer{view.id, view.state, view.next};
      });
}

}  // namespace ratchet
