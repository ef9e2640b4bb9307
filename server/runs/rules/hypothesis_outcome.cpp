#include "server/runs/rules/hypothesis_outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "server/core/figures.h"
#include "server/runs/records/markdown.h"
#include "server/runs/rules/conditions.h"

namespace ratchet {
namespace {

/// A value, with its interval where it has one.
struct Reading {
  double value = 0, low = 0, high = 0;
  double noise = 0;  ///< between processes, as a fraction, which the interval does not cover

  [[nodiscard]] std::string text() const {
    if (low == high) return three_digits(value);
    return fmt::format("{} ({} … {})", three_digits(value), three_digits(low), three_digits(high));
  }
};

using Readings = std::map<std::string, Reading>;

void add(Readings& readings, const std::string& name, const std::optional<double>& value) {
  if (value) readings[name] = {*value, *value, *value};
}

void add(Readings& readings, const std::string& name, const Comparison* comparison) {
  if (comparison == nullptr || comparison->pairs == 0) return;
  readings[name] = {comparison->speedup, comparison->ci_low, comparison->ci_high,
                    comparison->noise_floor};
  add(readings, name + "_low", std::optional(comparison->ci_low));
}

Readings readings_of(const VersionState& version) {
  Readings readings;
  if (version.profile) {
    // Of several kernels the largest value: a bound on registers is one on each kernel's.
    for (const auto& metric : all_metrics(*version.profile)) {
      const auto [found, added] =
          readings.try_emplace(metric.metric, Reading{metric.value, metric.value, metric.value});
      if (!added && metric.value > found->second.value)
        found->second = {metric.value, metric.value, metric.value};
    }
    const auto& timing = version.profile->timing;
    readings["median_ns"] = {timing.median.value, timing.ci_low.value, timing.ci_high.value};
    add(readings, "speedup", against_parent(version));
    add(readings, "speedup_vs_v0", against_v0(version));
  }
  if (version.build) {
    const auto& build = version.build->candidate.build;
    const auto number = [](const auto& value) {
      return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    };
    add(readings, "registers", number(build.registers));
    add(readings, "shared_bytes", number(build.shared_bytes));
    add(readings, "spill_bytes", number(build.spill_bytes));
    add(readings, "stack_bytes", number(build.stack_bytes));
  }
  if (version.correctness) {
    double abs = 0;
    double rel = 0;
    for (const auto& one : version.correctness->cases) {
      abs = std::max(abs, one.max_abs);
      rel = std::max(rel, one.max_rel);
    }
    add(readings, "max_abs", std::optional(abs));
    add(readings, "max_rel", std::optional(rel));
  }
  return readings;
}

/// How many conditions of a text hold, fail or are open.
struct Held {
  int yes = 0, no = 0, open = 0;
  std::string words;
};

Held hold(const std::string& text, const Readings& readings) {
  Held held;
  const auto conditions = conditions_within(text);
  const auto say = [&](const std::string& words) { markdown::append(held.words, words, ", "); };
  for (const auto& condition : conditions.all) {
    const auto found = readings.find(condition.name);
    if (found == readings.end()) {
      ++held.open;
      say(condition.text() + " is open: not measured");
      continue;
    }
    const auto& reading = found->second;
    const bool low = condition.holds(reading.low / (1 + reading.noise));
    if (low != condition.holds(reading.high * (1 + reading.noise))) {
      ++held.open;
      const bool by_noise = condition.holds(reading.low) == condition.holds(reading.high);
      say(fmt::format(
          "{} is open: measured {}{}", condition.text(), reading.text(),
          by_noise ? fmt::format(" with {} % of noise", three_digits(100 * reading.noise)) : ""));
      continue;
    }
    ++(low ? held.yes : held.no);
    say(fmt::format("{} {}: measured {}", condition.text(), low ? "holds" : "does not hold",
                    reading.text()));
  }
  for (const auto& one : conditions.unreadable) {
    ++held.open;
    say(fmt::format("\"{}\" cannot be read as a condition", markdown::one_line(one)));
  }
  return held;
}

Decision decided(const Held& accept, const Held& reject) {
  if (reject.yes > 0 || accept.no > 0) return Decision::rejected;
  if (accept.yes + accept.open + reject.no + reject.open == 0) return Decision::prose;
  if (accept.yes > 0 && accept.open + reject.open == 0) return Decision::accepted;
  return Decision::undecided;
}

}  // namespace

std::optional<HypothesisOutcome> hypothesis_outcome(const RunState& state,
                                                    const VersionState& version) {
  const auto* const tested = tested_hypothesis(state, version);
  if (tested == nullptr) return std::nullopt;
  if (version.abandoned || (version.correctness && !version.correctness->passed))
    return HypothesisOutcome{Decision::rejected, "the version is not correct"};
  if (!version.profile) return HypothesisOutcome{Decision::undecided, "not measured yet"};
  const auto readings = readings_of(version);
  const auto accept = hold(tested->accept_if, readings);
  const auto reject = hold(tested->reject_if, readings);
  HypothesisOutcome outcome{decided(accept, reject), ""};
  if (outcome.decision == Decision::prose) {
    outcome.words = "accept_if and reject_if hold no condition such as speedup >= 1.2";
    return outcome;
  }
  outcome.words =
      accept.words.empty() ? "accept_if holds no condition" : "accept_if: " + accept.words;
  if (!reject.words.empty()) outcome.words += "; reject_if: " + reject.words;
  return outcome;
}

std::vector<std::string> condition_names() {
  return {"speedup",     "speedup_low", "speedup_vs_v0", "speedup_vs_v0_low",
          "median_ns",   "registers",   "shared_bytes",  "spill_bytes",
          "stack_bytes", "max_abs",     "max_rel"};
}

std::string evaluated_text(const Hypothesis& hypothesis) {
  std::string read;
  std::string unreadable;
  for (const auto* text : {&hypothesis.accept_if, &hypothesis.reject_if}) {
    const auto conditions = conditions_within(*text);
    for (const auto& one : conditions.all)
      markdown::append(
          read, fmt::format("{} {}", text == &hypothesis.accept_if ? "accept_if" : "reject_if",
                            one.text()));
    for (const auto& one : conditions.unreadable)
      markdown::append(unreadable, markdown::one_line(one));
  }
  if (read.empty() && unreadable.empty())
    return fmt::format(
        "nothing: neither text holds a condition such as speedup >= 1.2. Names: {}, "
        "and the metrics of the profile",
        fmt::join(condition_names(), ", "));
  if (read.empty()) read = "nothing";
  return unreadable.empty() ? read : read + "; cannot be read: " + unreadable;
}

}  // namespace ratchet
