#include "kernels/lab/edge_values.h"

#include <fmt/format.h>

#include <cstdint>

#include "kernels/contract/layout.h"
#include "kernels/judge/trial_plan.h"
#include "kernels/judge/verdicts.h"

namespace ratchet {
namespace {

/// Null if all are edge cases.
const Case* smallest_case(const Contract& contract, const ExaminedSizes& sizes) {
  const Case* smallest = nullptr;
  std::int64_t least = 0;
  for (std::size_t i = 0; i + sizes.edges < sizes.cases.size(); ++i) {
    const auto layout = layout_of(contract, sizes.cases[i].dims);
    if (!layout || (smallest && layout->bytes >= least)) continue;
    smallest = &sizes.cases[i];
    least = layout->bytes;
  }
  return smallest;
}

Reason at(Reason reason, const std::string& values, const Dims& dims) {
  reason.message += fmt::format(" ({}, {} inputs)", dims_text(dims), values);
  return reason;
}

}  // namespace

Result<EdgeAnswers> ask_edge_values(Examiner& examiner, CandidateProcess& candidate,
                                    const Contract& contract, const ExaminedSizes& sizes,
                                    std::string_view seed, const CallContext& call) {
  EdgeAnswers answers;
  const Case* one = smallest_case(contract, sizes);
  if (one == nullptr) return answers;
  for (const auto& values : edge_values_of(contract)) {
    answers.asked = true;
    auto examined = examiner.examine({one->dims, values, seed, false}, call);
    if (!examined && examined.error().code == ErrorCode::invalid_argument) {
      answers.dropped.push_back(fmt::format("{}: {}", values, examined.error().message));
      answers.reference_failed = true;
      continue;
    }
    if (!examined) return examined.error();
    if (candidate.fault()) {
      answers.fault = candidate.fault();
      answers.reasons.push_back(at(reason_of(*answers.fault), values, one->dims));
      break;
    }
    if (*examined && (*examined)->dropped)
      answers.dropped.push_back(values + ": the reference's answer is NaN or infinite");
    if (!*examined || (*examined)->dropped || (*examined)->verdict.passed) continue;
    const auto reasons = reasons_of((*examined)->verdict);
    if (!reasons.empty()) answers.reasons.push_back(at(reasons.front(), values, one->dims));
  }
  return answers;
}

bool leaves_doubt(const Contract& contract, const EdgeAnswers& answers) {
  const bool compiled = contract.reference_kind != ReferenceKind::python;
  return answers.fault || answers.reference_failed || (answers.asked && compiled);
}

std::optional<Reason> edge_note_of(const EdgeAnswers& answers) {
  if (answers.reasons.empty()) return std::nullopt;
  std::string text;
  for (const auto& reason : answers.reasons) text += reason.message + "; ";
  return Reason{"edge_values",
                text + "not refused, since the contract does not ask for it (edge_values)",
                {},
                answers.reasons.front().origin};
}

}  // namespace ratchet
