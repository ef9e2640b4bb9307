#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/lab.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A source, and compiler flags beside those of its contract.
struct BuildOrder {
  Source source;
  std::vector<std::string> flags;
};

/// The contract with more compiler flags.
[[nodiscard]] Contract with_flags(Contract contract, const std::vector<std::string>& flags);

/// A kernel that was built, and the lab that did it.
struct Built {
  Candidate candidate;
  std::optional<std::string> lab;
};

/// Builds all sources side by side, on all labs that equal that of `contract`. Results are in the
/// order of `orders`; a source that does not compile is a result, not an error. Errors: those of
/// `Lab::build`; the first one, after all builds have ended. `told`, if given, is called with each
/// that compiles as soon as it is there, by any thread, more than once where a lab was lost.
[[nodiscard]] Result<std::vector<Built>> build_all(
    Lab& lab, const Contract& contract, const std::vector<BuildOrder>& orders, CallContext& call,
    const std::function<void(std::size_t order, const Built& one)>& told = {});

/// Builds a candidate on a lab that does not have it yet. Errors: `drift` if its binary is another
/// there, and those of `Lab::build`.
[[nodiscard]] Status build_at(Lab& lab, const Contract& there, const Candidate& candidate,
                              CallContext& call);

/// A build in an answer's text: resources and warnings; where it failed the errors and what to do.
/// `record` is an encoded BuildRecord; compiler line, digests and cache key are left out.
[[nodiscard]] Json in_brief(const Json& record);

}  // namespace ratchet
