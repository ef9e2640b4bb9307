#pragma once

#include <string>
#include <vector>

#include "kernels/lab.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A source and the contract, with its flags, that it is built under.
struct BuildOrder {
  Contract contract;
  Source source;
};

/// Builds all sources in parallel, each on its own thread; compilers spend much of their time
/// waiting for files. Results are in the order of `orders`; a source that does not compile is a
/// result, not an error. Errors: those of `Lab::build`; the first one, after all builds have ended.
[[nodiscard]] Result<std::vector<Candidate>> build_all(Lab& lab, std::vector<BuildOrder> orders,
                                                       CallContext& call);

/// A build in an answer's text: resources and warnings; where it failed the errors and what to do.
/// `record` is an encoded BuildRecord; compiler line, digests and cache key are left out.
[[nodiscard]] Json in_brief(const Json& record);

}  // namespace ratchet
