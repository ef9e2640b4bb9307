// Which sizes a run's checks may add to the given ones.

#include <string>
#include <utility>

#include "kernels/lab.h"

namespace ratchet {
namespace {

/// Only multiples of the given sizes' factors of two are drawn.
void take_aligned(Contract& contract, const Reason& refused, std::vector<Reason>& warnings) {
  contract.any_size = false;
  warnings.push_back({"aligned_sizes_only",
                      "versions are not tried at odd or tiny sizes, because v0 or the reference "
                      "fails there, so one without a tail may pass: " +
                          refused.message,
                      {},
                      refused.origin});
}

void take_given(Contract& contract, const Reason& unanswered, std::vector<Reason>& warnings) {
  contract.given_sizes = true;
  warnings.push_back(
      {"given_sizes_only",
       "versions are tried at the given sizes only, because the reference has no answer at others, "
       "so one made for those may pass (relations in where tell which others there are): " +
           unanswered.message,
       {}});
}

}  // namespace

Status Lab::decide_sizes(Contract& contract, const Candidate* v0, std::string_view run_secret,
                         std::vector<Reason>& warnings, CallContext& call) {
  if (v0 != nullptr) {
    const auto refused = refused_size(contract, *v0, run_secret, call);
    if (!refused) return refused.error();
    contract.any_size = !*refused;
    if (*refused) take_aligned(contract, **refused, warnings);
  }
  auto unanswered = unanswered_size(contract, run_secret, call);
  if (unanswered && *unanswered && contract.any_size) {
    take_aligned(contract, **unanswered, warnings);
    unanswered = unanswered_size(contract, run_secret, call);
  }
  if (!unanswered) return unanswered.error();
  if (*unanswered) take_given(contract, **unanswered, warnings);
  return {};
}

}  // namespace ratchet
