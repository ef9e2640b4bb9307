#include "kernels/contract/compiled_reference.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernels/source/signature.h"

namespace ratchet {
namespace {

using Parameters = std::vector<Parameter>;

std::vector<std::string> names_of(const Parameters& parameters) {
  std::vector<std::string> names;
  for (const auto& one : parameters) names.push_back(one.name);
  return names;
}

/// Whether both have the same names, but not in the same order: an argument would go to another
/// parameter than its own.
bool reordered(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return a != b && std::set(a.begin(), a.end()) == std::set(b.begin(), b.end());
}

}  // namespace

Status check_compiled_reference(const Contract& contract) {
  const auto signature = parse_signature(contract.reference.text, "reference",
                                         {language_of(contract.reference_kind), {}});
  const auto place = place_of_entry(contract.reference, "reference");
  if (!signature)
    return Error{signature.error().code, fmt::format("{}{}", place, signature.error().message),
                 fmt::format("Define extern \"C\" void reference with the parameters of {}, in the "
                             "same order: {}.",
                             contract.entry, fmt::join(names_of(contract.parameters), ", "))};
  const auto& seen = signature->parameters;
  auto wanted = contract.parameters;
  if (!wanted.empty() && wanted.back().kind == ParameterKind::stream &&
      seen.size() + 1 == wanted.size())
    wanted.pop_back();
  // Dims after a device-only kernel's parameters are only for its launch.
  if (contract.launch && wanted.size() > seen.size()) wanted.resize(seen.size());
  const auto alike = [](const Parameter& a, const Parameter& b) {
    const bool pointer = a.kind == ParameterKind::tensor;
    return pointer == (b.kind == ParameterKind::tensor) && a.dtype == b.dtype;
  };
  if (!std::ranges::equal(wanted, seen, alike))
    return invalid_argument(
        fmt::format("{}{}", place, parameter_difference("reference", seen, contract.entry, wanted)),
        "Give reference the same parameter list as the entry, in the same order.");
  const auto here = names_of(seen), there = names_of(wanted);
  if (reordered(here, there))
    return invalid_argument(
        fmt::format("{}reference takes {}, but {} takes {}", place, fmt::join(here, ", "),
                    contract.entry, fmt::join(there, ", ")),
        "Both are called with the same arguments: give them the same order.");
  return {};
}

}  // namespace ratchet
