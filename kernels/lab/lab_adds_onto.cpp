// Whether a kernel adds onto its outputs: a hint to an author, beside the verdict.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/call_signature.h"
#include "kernels/contract/input_init.h"
#include "kernels/judge/examiner.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {
namespace {

constexpr int kZeroedArenas = 2;

/// The contract with these outputs starting at zero; empty if all of them have contents already, or
/// no call sees any.
std::optional<Contract> zeroed(Contract contract, const std::vector<std::string>& outputs) {
  if (!takes_outputs(contract)) return std::nullopt;
  bool any = false;
  for (auto& tensor : contract.tensors) {
    if (tensor.role != Role::out || std::ranges::find(outputs, tensor.name) == outputs.end())
      continue;
    tensor.role = Role::inout;
    tensor.init = kZerosInit;
    any = true;
  }
  return any ? std::optional(std::move(contract)) : std::nullopt;
}

}  // namespace

Result<std::optional<Reason>> Laboratory::adds_onto(const Contract& contract,
                                                    const Candidate& candidate,
                                                    const Question& wrong,
                                                    const std::vector<std::string>& outputs,
                                                    const CallContext& call) {
  const auto other = zeroed(contract, outputs);
  if (!other) return std::optional<Reason>{};
  auto plan = start_plan(*other, candidate, CandidateProcess::Use::time, kZeroedArenas, call);
  if (!plan) return plan.error();
  auto process = CandidateProcess::launch(plan->spec, plan->deadline);
  if (!process) return process.error();
  auto examiner = open_examiner(reference_parts(*other), *other, *process, plan->code, call);
  if (!examiner) return examiner.error();
  const auto other_seed = fresh_seed();
  for (const std::string_view seed : {wrong.seed, std::string_view(other_seed)}) {
    auto examined = (*examiner)->examine({wrong.dims, wrong.distribution, seed, false}, call);
    if (!examined) return examined.error();
    if (!*examined || !(*examined)->verdict.passed) return std::optional<Reason>{};
  }
  return std::optional(Reason{
      "adds_onto_output",
      fmt::format("{}: the kernel adds onto its output, or leaves zeros unwritten; passes when it "
                  "starts at zero: declare `init: zeros` for it in `tensors` (without tensors: "
                  "`accumulate`) in a new run",
                  fmt::join(outputs, ", ")),
      {},
      {}});
}

}  // namespace ratchet
