#pragma once

// Requests to a judge. See messages.h for the roles.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/protocol/arena.h"
#include "server/core/fields.h"

namespace ratchet::wire {

/// Generates the content of an arena. Descriptor: the arena to fill.
struct Generate {
  ArenaLayout layout;
  std::string seed;              ///< hex; derived from the run's secret
  std::string distribution;      ///< normal, shifted, large, small
  std::int64_t index_limit = 0;  ///< exclusive bound of untyped integer inputs

  static constexpr void fields(auto&& visit) {
    visit(required<&Generate::layout>(), required<&Generate::seed>(),
          required<&Generate::distribution>(), required<&Generate::index_limit>());
  }
};

/// How many timed calls an arena has had, and the seed of the changes made before each.
struct Uses {
  std::string seed;
  int count = 0;

  static constexpr void fields(auto&& visit) {
    visit(required<&Uses::seed>(), required<&Uses::count>());
  }
};

/// Repeats on the judge's side the changes made to an arena before its timed calls. Descriptors:
/// the arena as it was sent, the arena to fill.
struct Refresh {
  ArenaLayout layout;
  Uses uses;

  static constexpr void fields(auto&& visit) {
    visit(required<&Refresh::layout>(), required<&Refresh::uses>());
  }
};

/// A wrong answer that needs little or no computation: a sound task must reject it.
enum class Control {
  zero,
  constant,         ///< one value everywhere, from the answer to another trial
  identity,         ///< the first input with the output's type and size
  lower_precision,  ///< the right answer with the significand of the next smaller type
};
constexpr auto enum_names(Control) {
  using enum Control;
  return as_written<zero, constant, identity, lower_precision>();
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

/// How a tolerance's `atol` scales with the RMS of the expected output: not at all, by min(1, RMS),
/// or by RMS.
enum class AtolScale { absolute, shrink, rms };
constexpr auto enum_names(AtolScale) {
  using enum AtolScale;
  return as_written<absolute, shrink, rms>();
}

/// When an element of an output counts as right: |got - expected| <= atol * scale + rtol *
/// |expected|, or equal values if `exact`. NaN and infinity match only themselves.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
  AtolScale scale = AtolScale::absolute;
  bool exact = true;

  static constexpr void fields(auto&& visit) {
    visit(required<&Tolerance::atol>(), required<&Tolerance::rtol>(), required<&Tolerance::scale>(),
          required<&Tolerance::exact>());
  }
};

/// Allocates device memory that the judge shares with one other process each, enough for arenas of
/// the given total size at any shift. Reply: one descriptor for the reference, then one for each
/// candidate.
struct Share {
  std::int64_t arena_bytes = 0;      ///< of the largest arena: the reference's memory
  std::int64_t candidate_bytes = 0;  ///< of each candidate's memory
  int candidates = 0;

  static constexpr void fields(auto&& visit) {
    visit(required<&Share::arena_bytes>(), required<&Share::candidate_bytes>(),
          required<&Share::candidates>());
  }
};

/// Where an arena lies: the offset `at` into the memory shared with that candidate.
struct Place {
  int candidate = 0;
  std::int64_t at = 0;

  static constexpr void fields(auto&& visit) {
    visit(required<&Place::candidate>(), required<&Place::at>());
  }
};

/// One input drawn from a different seed than the rest.
struct Changed {
  std::string tensor;
  std::string seed;

  static constexpr void fields(auto&& visit) {
    visit(required<&Changed::tensor>(), required<&Changed::seed>());
  }
};

/// Generates a trial in device memory: at 0 of the reference's memory and at `place` for a
/// candidate.
struct GenerateOnDevice {
  Generate content;
  std::optional<Place> place;  ///< empty: no candidate receives it
  bool again = false;  ///< the content of the previous GenerateOnDevice, for the candidate only
  std::optional<Changed> changed;
  std::optional<Uses> uses;  ///< apply the changes of that many timed calls to the inputs

  static constexpr void fields(auto&& visit) {
    visit(required<&GenerateOnDevice::content>(), optional<&GenerateOnDevice::place>(),
          required<&GenerateOnDevice::again>(), optional<&GenerateOnDevice::changed>(),
          optional<&GenerateOnDevice::uses>());
  }
};

/// Describes the reference's answer to the generated trial. Reply: `answered`.
struct DescribeOnDevice {
  static constexpr void fields(auto&&) {}
};

/// Compares. Descriptors: the arena as sent, the arena that came back, the arena with expected
/// outputs.
struct Compare {
  ArenaLayout layout;
  std::vector<Tolerance> tolerances;  ///< parallel to the layout's buffers; unused for inputs
  double matched_ratio = 1;           ///< share of each output's elements that must be right

  static constexpr void fields(auto&& visit) {
    visit(required<&Compare::layout>(), required<&Compare::tolerances>(),
          optional<&Compare::matched_ratio>());
  }
};

/// Compares what a call left in a candidate's memory with the generated trial and its answer, using
/// a copy that no other process can reach. After a GenerateOnDevice with `again`, the reply also
/// says whether all output bits are unchanged.
struct CompareOnDevice {
  Compare compare;
  Place place;

  static constexpr void fields(auto&& visit) {
    visit(required<&CompareOnDevice::compare>(), required<&CompareOnDevice::place>());
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
