#include "kernels/judge/idle_judge.h"

#include <utility>

#include "kernels/process/python_inputs.h"
#include "server/core/fields.h"

namespace ratchet {

Result<IdleJudge> open_idle_judge(const ReferenceParts& parts, const Contract& contract,
                                  const CallContext& call) {
  IdleJudge judge;
  if (answers_on_device(contract)) {
    auto trials = DeviceTrials::launch(parts, contract, {}, call);
    const auto opened = trials ? (*trials)->open(call) : Status(trials.error());
    if (opened) {
      judge.on_device = *std::move(trials);
      return judge;
    }
    if (opened.error().code != ErrorCode::unavailable) return opened.error();
  }
  auto opened = Judge::open(parts, contract, call);
  if (!opened) return opened.error();
  judge.by_files = *std::move(opened);
  return judge;
}

JudgeSpecs judge_specs(const ReferenceParts& parts, const Contract& contract) {
  return answers_on_device(contract) ? DeviceTrials::specs(parts, contract)
                                     : Judge::specs(parts, contract);
}

std::string judge_terms(Contract contract) {
  const Contract plain;
  const auto function = inputs_function(contract.kernel, contract.reference);
  if (given_inputs(contract).empty() || !function || function->of_reference)
    contract.kernel = plain.kernel;
  // These say which versions there are and at what sizes they are asked.
  contract.kernel_name = plain.kernel_name;
  contract.any_size = plain.any_size;
  contract.given_sizes = plain.given_sizes;
  contract.seed_given = plain.seed_given;
  contract.iterations = plain.iterations;
  contract.retries = plain.retries;
  return encode(contract).dump();
}

}  // namespace ratchet
