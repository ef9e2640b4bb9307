#pragma once

// What the server asks of a judge. See messages.h for the roles.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/protocol/arena.h"
#include "server/core/fields.h"

namespace ratchet::wire {

/// Makes the content of an arena. Descriptor: the arena to fill.
struct Generate {
  ArenaLayout layout;
  std::string seed;              ///< hex; derived from the run's secret
  std::string distribution;      ///< normal, shifted, large, small
  std::int64_t index_limit = 0;  ///< exclusive bound of untyped integer inputs

  static constexpr void fields(auto&& visit) {
    visit(required("layout", &Generate::layout, ""), required("seed", &Generate::seed, ""),
          required("distribution", &Generate::distribution, ""),
          required("index_limit", &Generate::index_limit, ""));
  }
};

/// Timed calls on an arena so far, and the seed of what changed in it before each.
struct Uses {
  std::string seed;
  int count = 0;

  static constexpr void fields(auto&& visit) {
    visit(required("seed", &Uses::seed, ""), required("count", &Uses::count, ""));
  }
};

/// Repeats on the judge's side what was changed in an arena before its timed calls. Descriptors:
/// the arena as it was sent, the arena to fill.
struct Refresh {
  ArenaLayout layout;
  Uses uses;

  static constexpr void fields(auto&& visit) {
    visit(required("layout", &Refresh::layout, ""), required("uses", &Refresh::uses, ""));
  }
};

/// An answer that computes nothing, or not enough: what a sound task must refuse.
enum class Control {
  zero,
  constant,         ///< one value everywhere, from the answer to another trial
  identity,         ///< the first input of the output's type and size
  lower_precision,  ///< the right answer with the significand of the next smaller type
};
constexpr auto enum_names(Control) {
  using enum Control;
  return std::array{std::pair{zero, "zero"}, std::pair{constant, "constant"},
                    std::pair{identity, "identity"}, std::pair{lower_precision, "lower_precision"}};
}

/// Writes what a kernel would return if the control were all it did. Descriptors: the arena as it
/// was sent, its answer, the answer to another trial, the arena to fill. Reply: `forged`.
struct Forge {
  ArenaLayout layout;
  Control control = Control::zero;

  static constexpr void fields(auto&& visit) {
    visit(required("layout", &Forge::layout, ""), required("control", &Forge::control, ""));
  }
};

/// How a tolerance's `atol` follows the RMS of the expected output: not at all, times min(1, RMS),
/// times RMS.
enum class AtolScale { absolute, shrink, rms };
constexpr auto enum_names(AtolScale) {
  return std::array{std::pair{AtolScale::absolute, "absolute"},
                    std::pair{AtolScale::shrink, "shrink"}, std::pair{AtolScale::rms, "rms"}};
}

/// When an element of an output counts as right: |got - expected| <= atol * scale + rtol *
/// |expected|, or the same value when `exact`. NaN and infinity only against the same.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
  AtolScale scale = AtolScale::absolute;
  bool exact = true;

  static constexpr void fields(auto&& visit) {
    visit(required("atol", &Tolerance::atol, ""), required("rtol", &Tolerance::rtol, ""),
          required("scale", &Tolerance::scale, ""), required("exact", &Tolerance::exact, ""));
  }
};

/// Makes device memory that the judge shares with one other process each, enough for arenas of so
/// many bytes in all at any shift. Reply: one descriptor for the reference, then one for each
/// candidate.
struct Share {
  std::int64_t arena_bytes = 0;      ///< of the largest arena: the reference's memory
  std::int64_t candidate_bytes = 0;  ///< of each candidate's memory
  int candidates = 0;

  static constexpr void fields(auto&& visit) {
    visit(required("arena_bytes", &Share::arena_bytes, ""),
          required("candidate_bytes", &Share::candidate_bytes, ""),
          required("candidates", &Share::candidates, ""));
  }
};

/// Where an arena lies: so many bytes into the memory of that candidate.
struct Place {
  int candidate = 0;
  std::int64_t at = 0;

  static constexpr void fields(auto&& visit) {
    visit(required("candidate", &Place::candidate, ""), required("at", &Place::at, ""));
  }
};

/// One input drawn from another seed than the rest.
struct Changed {
  std::string tensor;
  std::string seed;

  static constexpr void fields(auto&& visit) {
    visit(required("tensor", &Changed::tensor, ""), required("seed", &Changed::seed, ""));
  }
};

/// Lays a trial out: in the reference's memory at 0, and where a candidate is to find it.
struct GenerateOnDevice {
  Generate content;
  std::optional<Place> place;  ///< empty: no candidate gets it
  bool again = false;  ///< the contents of the last GenerateOnDevice, for the candidate only
  std::optional<Changed> changed;
  std::optional<Uses> uses;  ///< as timed calls left the inputs

  static constexpr void fields(auto&& visit) {
    visit(required("content", &GenerateOnDevice::content, ""),
          optional("place", &GenerateOnDevice::place, ""),
          required("again", &GenerateOnDevice::again, ""),
          optional("changed", &GenerateOnDevice::changed, ""),
          optional("uses", &GenerateOnDevice::uses, ""));
  }
};

/// Looks at the reference's answer to the trial that is generated. Reply: `answered`.
struct DescribeOnDevice {
  static constexpr void fields(auto&&) {}
};

/// Compares. Descriptors: arena as it was sent, arena that came back, arena with expected outputs.
struct Compare {
  ArenaLayout layout;
  std::vector<Tolerance> tolerances;  ///< parallel to the layout's buffers; unused for inputs
  double matched_ratio = 1;           ///< share of each output that must be right

  static constexpr void fields(auto&& visit) {
    visit(required("layout", &Compare::layout, ""),
          required("tolerances", &Compare::tolerances, ""),
          optional("matched_ratio", &Compare::matched_ratio, ""));
  }
};

/// Compares what a call left in a candidate's memory with the generated trial and its answer, from
/// a copy that nobody else can reach. After a GenerateOnDevice `again` the reply also says whether
/// all output bits are those of before.
struct CompareOnDevice {
  Compare compare;
  Place place;

  static constexpr void fields(auto&& visit) {
    visit(required("compare", &CompareOnDevice::compare, ""),
          required("place", &CompareOnDevice::place, ""));
  }
};

/// Compares what a kernel would leave if the control were all it did; a constant is the first
/// element of the answer that was looked at before. Reply: `forged`, and `comparison` where it is
/// true.
struct ForgeOnDevice {
  Control control = Control::zero;
  Compare compare;

  static constexpr void fields(auto&& visit) {
    visit(required("control", &ForgeOnDevice::control, ""),
          required("compare", &ForgeOnDevice::compare, ""));
  }
};

}  // namespace ratchet::wire
