#include "kernels/judge/idle_judge.h"

#include "kernels/process/python_inputs.h"
#include "server/core/fields.h"

namespace ratchet {

std::string judge_terms(Contract contract) {
  const Contract plain;
  const auto function = inputs_function(contract.kernel, contract.reference);
  if (given_inputs(contract).empty() || !function || function->of_reference)
    contract.kernel = plain.kernel;
  // These say which versions there are and at what sizes they are asked.
  contract.kernel_name = plain.kernel_name;
  contract.any_size = plain.any_size;
  contract.seed_given = plain.seed_given;
  contract.iterations = plain.iterations;
  contract.retries = plain.retries;
  return encode(contract).dump();
}

}  // namespace ratchet
