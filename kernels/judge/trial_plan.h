#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/facts/contract.h"

namespace ratchet {

// What a check draws and changes. Pure.

/// The input distributions of a check: normal, plus shifted, large and small, and by JudgeRules
/// special, sequence and, for float16, extreme, if they change any input.
[[nodiscard]] std::vector<std::string> distributions_of(const Contract& contract);
/// Those, and what searches of the contract's run have found.
[[nodiscard]] std::vector<std::string> values_of(const Contract& contract);
/// Whether one seed of these values is enough: they hardly depend on the seed, or were found with
/// one.
[[nodiscard]] bool drawn_once(std::string_view values);

/// Values at the edges of their types, asked about last, at the smallest size; empty for inputs
/// that have none, and by rules before version 4.
[[nodiscard]] std::vector<std::string> edge_values_of(const Contract& contract);
/// Whether a NaN or infinite answer to these values, where that to normal ones is finite, means
/// that the reference has none, and not that a rule gives it.
[[nodiscard]] bool need_finite_answer(std::string_view values);

/// Whether the server may not put other values there.
[[nodiscard]] bool keeps_contents(const TensorSpec& tensor);

/// The distribution of a trial with a changed slice.
inline constexpr const char* kSliceDistribution = "slice";

/// The slices that a check asks about: of each input that may take other values, the last 1/128 of
/// each axis, and one element, in an order and at a place drawn from the seed; at most 12. Empty
/// without JudgeRules.
[[nodiscard]] std::vector<wire::Changed> slices_of(const Contract& contract,
                                                   const wire::ArenaLayout& layout,
                                                   std::string_view seed);

/// "the range 120 … 127 of axis 1 of x", "index 127 of axis 1 of x", "element 17 of x".
[[nodiscard]] std::string described(const wire::Changed& changed);

/// The changes to try on one slice, in order, until the reference's answer follows: its last index
/// alone, then all of it, each by growing amounts. A kernel that leaves out less than the slice
/// leaves out its last index.
[[nodiscard]] std::vector<wire::Changed> raised(const wire::Changed& slice);

/// Every allowed error of a plan times `factor`; exact outputs stay exact.
[[nodiscard]] wire::Compare loosened(wire::Compare plan, double factor);

/// Whether an answer passed although elements are off, and the contract bounds by how much.
[[nodiscard]] bool leaves_rest(const Contract& contract, const wire::Comparison& verdict);

/// How to ask about it once more: all elements have to be within the contract's `rest_within` times
/// the server's own tolerance, or within the plan's where that is more; integers as the plan says.
[[nodiscard]] wire::Compare plan_for_rest(const Contract& contract, wire::Compare plan);

}  // namespace ratchet
