#pragma once

// Requests to a judge about answers. See messages.h for the roles.

#include <optional>
#include <string>
#include <vector>

#include "kernels/protocol/arena.h"
#include "kernels/protocol/trial_requests.h"
#include "server/core/fields.h"

namespace ratchet::wire {

/// A wrong answer that needs little or no computation: a sound task must reject it.
enum class Control {
  zero,
  constant,         ///< one value everywhere, from the answer to another trial
  identity,         ///< the first input with the output's type and size
  lower_precision,  ///< the right answer with the significand of the next smaller type
  sign,             ///< the right answer with every sign changed
  stale,            ///< the whole answer to another trial
};
constexpr auto enum_names(Control) {
  using enum Control;
  return as_written<zero, constant, identity, lower_precision, sign, stale>();
}

/// Writes what a kernel would return if it only applied the control. Descriptors: the arena as it
/// was sent, its answer, the answer to another trial, the arena to fill. Reply: `forged`.
struct Forge {
  ArenaLayout layout;
  Control control = Control::zero;

  static constexpr void fields(auto&& visit) {
    visit(required<&Forge::layout>(), required<&Forge::control>());
  }
};

/// How a tolerance's `atol` scales with the expected output: not at all, by min(1, RMS), by RMS, by
/// the RMS of its row where rows differ much, or by the magnitude of a typical element.
enum class AtolScale { absolute, shrink, rms, row, typical };
constexpr auto enum_names(AtolScale) {
  using enum AtolScale;
  return as_written<absolute, shrink, rms, row, typical>();
}

/// When an element of an output counts as right: |got - expected| <= atol * scale + rtol *
/// |expected|, or equal values if `exact`. NaN and infinity match only themselves. The members
/// after `exact` need a shadow (see Compare); 0 switches them off.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
  AtolScale scale = AtolScale::absolute;
  bool exact = true;
  double honest = 0;         ///< how many honest errors an element may be off by
  bool only_honest = false;  ///< `atol` and `rtol` do not count beside it
  double noise = 0;          ///< most RMS error over the RMS error of an honest kernel
  double bias = 0;           ///< from which on the mean error towards zero over its RMS is reported
  double least_scale = 0;    ///< the RMS that `atol` is scaled by at least
  bool flush = false;        ///< zeros in place of small values are counted
  double matched_ratio = 1;  ///< share of the output's elements that must be right
  double terms = 0;          ///< allowed at least for each unit of its terms' magnitude
  double tail = 0;           ///< share of the elements that may be off by up to twice as much

  static constexpr void fields(auto&& visit) {
    using T = Tolerance;
    visit(required<&T::atol>(), required<&T::rtol>(), required<&T::scale>(), required<&T::exact>(),
          optional<&T::honest>(), optional<&T::only_honest>(), optional<&T::noise>(),
          optional<&T::bias>(), optional<&T::least_scale>(), optional<&T::flush>(),
          optional<&T::matched_ratio>(), optional<&T::terms>(), optional<&T::tail>());
  }
};

/// Compares. Descriptors: the arena as sent, the arena that came back, the arena with expected
/// outputs; the reference's shadow if `wide` is given: its answer in float64; and the arena with
/// its answer to the magnitudes of the inputs if `with_terms`.
struct Compare {
  ArenaLayout layout;
  std::vector<Tolerance> tolerances;  ///< parallel to the layout's buffers; unused for inputs
  std::optional<ArenaLayout> wide;    ///< of the shadow
  bool with_terms = false;

  static constexpr void fields(auto&& visit) {
    visit(required<&Compare::layout>(), required<&Compare::tolerances>(),
          optional<&Compare::wide>(), optional<&Compare::with_terms>());
  }
};

/// Compares what a call left in a candidate's memory with the generated trial and its answer, using
/// a copy that no other process can reach. After a GenerateOnDevice with `again`, the reply also
/// says whether all output bits are unchanged.
///
/// `wide` and `with_terms` of the comparison: what the last WidenOnDevice and TermsOnDevice left.
struct CompareOnDevice {
  Compare compare;
  Place place;
  bool kept = false;  ///< once more what was compared last, whoever left it, instead of the place

  static constexpr void fields(auto&& visit) {
    visit(required<&CompareOnDevice::compare>(), required<&CompareOnDevice::place>(),
          optional<&CompareOnDevice::kept>());
  }
};

/// The steps of asking the reference about sums. Its answers are in its own memory, and `aside` is
/// an arena of the judge.
enum class TermsStep {
  keep,        ///< aside: the trial and its answer
  add,         ///< the answer to aside's outputs, and the tensor aside to the trial's: a new trial
  judge,       ///< aside's outputs, as if they had been returned, with the answer
  magnitudes,  ///< aside: the trial and its answer; the trial's inputs become their magnitudes
  restore,     ///< exchanges aside, which then has the terms, with the reference's memory
};
constexpr auto enum_names(TermsStep) {
  using enum TermsStep;
  return as_written<keep, add, judge, magnitudes, restore>();
}

/// Reply: `fits`, and for `judge` `comparison`.
struct TermsOnDevice {
  TermsStep step = TermsStep::keep;
  std::string tensor;              ///< of `add`
  std::optional<Compare> compare;  ///< of `judge`

  static constexpr void fields(auto&& visit) {
    visit(required<&TermsOnDevice::step>(), optional<&TermsOnDevice::tensor>(),
          optional<&TermsOnDevice::compare>());
  }
};

/// Compares what a kernel would leave if it only applied the control; the constant is the first
/// element of the previously described answer. Reply: `forged`, and `comparison` if it is true.
struct ForgeOnDevice {
  Control control = Control::zero;
  Compare compare;

  static constexpr void fields(auto&& visit) {
    visit(required<&ForgeOnDevice::control>(), required<&ForgeOnDevice::compare>());
  }
};

}  // namespace ratchet::wire

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<wire::Forge>();
extern template const FieldTable& table_of<wire::Tolerance>();
extern template const FieldTable& table_of<wire::Compare>();
extern template const FieldTable& table_of<wire::CompareOnDevice>();
extern template const FieldTable& table_of<wire::TermsOnDevice>();
extern template const FieldTable& table_of<wire::ForgeOnDevice>();
}  // namespace ratchet::fields_detail
