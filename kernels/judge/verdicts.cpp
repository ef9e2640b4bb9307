#include "kernels/judge/verdicts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "server/core/origin.h"

namespace ratchet {
namespace {

Reason reason_of_output(const OutputError& output, const wire::OutputState& state) {
  if (state.unwritten == output.elements)
    return {"output_not_written", fmt::format("{} was not written at all", output.tensor), {}};
  if (state.unwritten > 0)
    return {
        "output_not_written",
        fmt::format("{}: {} of {} elements were not written; the first wrong one is [{}]",
                    output.tensor, state.unwritten, output.elements, output.first_bad.value_or(0)),
        {}};
  if (state.unexpected > 0)
    return {
        "nan_in_output",
        fmt::format("{}: {} of {} elements are NaN or infinite where the reference is finite, "
                    "the first wrong one is [{}]",
                    output.tensor, state.unexpected, output.elements, output.first_bad.value_or(0)),
        {}};
  if (output.mismatches == 0 && state.flushed)
    return {
        "flushes_small_values",
        fmt::format("{}: {} values within the tolerance are zero where the reference's are not: "
                    "small answers were set to zero instead of computed",
                    output.tensor, *state.flushed),
        {}};
  if (output.mismatches == 0 && state.noise)
    return {"too_noisy",
            fmt::format("{}: every element is within its tolerance, but the RMS error is {:.1f} "
                        "times that of an honest kernel of these types",
                        output.tensor, *state.noise),
            {}};
  return {"mismatch",
          fmt::format("{}: {} of {} elements differ, first at [{}]; largest absolute error "
                      "{:.3g}, relative {:.3g}",
                      output.tensor, output.mismatches, output.elements,
                      output.first_bad.value_or(0), output.max_abs, output.max_rel),
          {}};
}

}  // namespace

Reason reason_of(const Fault& fault) {
  return {"fault_" + fault.kind, fault.message, {}, {std::string(Fault::kOrigin)}};
}

std::vector<Reason> reasons_of(const wire::Comparison& comparison) {
  std::vector<Reason> reasons;
  const std::string touched = comparison.touched.value_or("a buffer");
  if (!comparison.guards_intact)
    reasons.push_back({"wrote_out_of_bounds", "wrote outside its buffers, next to " + touched, {}});
  if (!comparison.inputs_intact)
    reasons.push_back({"modified_input",
                       comparison.guards_intact ? "changed its input " + touched
                                                : std::string("changed an input"),
                       {}});
  for (std::size_t i = 0; i < comparison.outputs.size(); ++i) {
    const bool known = i < comparison.states.size();
    if (known ? comparison.states[i].right : comparison.outputs[i].mismatches == 0) continue;
    reasons.push_back(reason_of_output(comparison.outputs[i],
                                       known ? comparison.states[i] : wire::OutputState{}));
  }
  if (!comparison.objection.empty())
    reasons.push_back({"check_failed",
                       fmt::format("the task's own check_outputs refuses the outputs: {}",
                                   behind_fence(comparison.objection)),
                       {}});
  if (comparison.outputs.empty())
    reasons.push_back({"no_output", "the task has no output to compare", {}});
  return reasons;
}

CaseResult result_of(const Case& one, int seed, const std::string& values,
                     const wire::Comparison& verdict) {
  CaseResult result;
  result.seed = seed;
  result.distribution = values;
  result.hidden = one.hidden;
  result.passed = verdict.passed;
  if (!result.hidden || !result.passed) result.dims = one.dims;
  result.outputs = verdict.outputs;
  for (const auto& output : verdict.outputs) {
    result.max_abs = std::max(result.max_abs, output.max_abs);
    result.max_rel = std::max(result.max_rel, output.max_rel);
    result.mismatches += output.mismatches;
  }
  return result;
}

Reason reason_of(const SliceFinding& finding) {
  const std::string what = described(finding.changed);
  if (finding.ignored)
    return {"ignores_part_of_input",
            fmt::format("the answer does not follow when {} changes by about {:g}; the reference's "
                        "moves by far more than the tolerance",
                        what, finding.changed.slice->amount),
            {}};
  auto reasons = reasons_of(finding.verdict);
  auto reason = reasons.empty() ? Reason{"mismatch", "", {}} : std::move(reasons.front());
  reason.message = fmt::format("after {} changed by about {:g}: {}", what,
                               finding.changed.slice->amount, reason.message);
  return reason;
}

std::string described(const wire::Comparison& comparison) {
  const auto reasons = reasons_of(comparison);
  return reasons.empty() ? "" : reasons.front().message;
}

std::optional<Reason> reason_of_timed_output(const wire::Comparison& comparison) {
  if (comparison.passed) return std::nullopt;
  return Reason{
      "timed_output_wrong", "an output of the timed calls is wrong: " + described(comparison), {}};
}

std::optional<Reason> reason_of_flags(const std::vector<std::string>& flags) {
  if (std::find(flags.begin(), flags.end(), "unsynchronised_work") == flags.end())
    return std::nullopt;
  return Reason{"unsynchronised_work",
                fmt::format("part of the work was unfinished when a timed call returned ({})",
                            fmt::join(flags, ", ")),
                {}};
}

}  // namespace ratchet
