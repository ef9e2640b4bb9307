#include "kernels/contract/work.h"

#include <fmt/core.h>

#include "kernels/contract/where.h"
#include "kernels/source/expression.h"

namespace ratchet {

Result<std::optional<WorkDone>> work_of(const Contract& contract, const Dims& dims) {
  if (!contract.work) return std::optional<WorkDone>{};
  const auto names = names_in(contract, dims);
  const auto bytes = evaluate(contract.work->bytes, names);
  if (!bytes) return bytes.error();
  const auto flops = evaluate(contract.work->flops, names);
  if (!flops) return flops.error();
  if (*bytes < 0 || *flops < 0)
    return invalid_argument(
        fmt::format("work: {} bytes and {} FLOPs; neither may be negative", *bytes, *flops),
        "Give the minimum number of bytes moved and of operations in one call.");
  return std::optional(WorkDone{*bytes, *flops, contract.work->type});
}

}  // namespace ratchet
