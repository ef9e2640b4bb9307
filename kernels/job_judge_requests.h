#pragma once

// What the server asks of a judge. See job.h for the roles.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/job_arena.h"
#include "server/core/fields.h"

namespace ratchet::job {

/// Makes the content of an arena. Descriptor: the arena to fill.
struct Generate {
  ArenaLayout layout;
  std::string seed;              ///< hex; derived from the run's secret
  std::string distribution;      ///< normal, shifted, large, small
  std::int64_t index_limit = 0;  ///< exclusive bound of untyped integer inputs

  static constexpr auto fields() {
    return std::tuple{required("layout", &Generate::layout, ""),
                      required("seed", &Generate::seed, ""),
                      required("distribution", &Generate::distribution, ""),
                      required("index_limit", &Generate::index_limit, "")};
  }
};

/// Repeats on the judge's side what was changed in an arena before its timed calls. Descriptors:
/// the arena as it was sent, the arena to fill.
struct Refresh {
  ArenaLayout layout;
  std::string seed;
  int uses = 0;  ///< timed calls on it so far

  static constexpr auto fields() {
    return std::tuple{required("layout", &Refresh::layout, ""),
                      required("seed", &Refresh::seed, ""), required("uses", &Refresh::uses, "")};
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

  static constexpr auto fields() {
    return std::tuple{required("layout", &Forge::layout, ""),
                      required("control", &Forge::control, "")};
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

  static constexpr auto fields() {
    return std::tuple{
        required("atol", &Tolerance::atol, ""), required("rtol", &Tolerance::rtol, ""),
        required("scale", &Tolerance::scale, ""), required("exact", &Tolerance::exact, "")};
  }
};

/// Makes device memory that the judge shares with one other process each, enough for an arena of
/// so many bytes at any shift. Reply: one descriptor for the candidate, one for the reference.
struct Share {
  std::int64_t bytes = 0;

  static constexpr auto fields() { return std::tuple{required("bytes", &Share::bytes, "")}; }
};

/// One input drawn from another seed than the rest.
struct Changed {
  std::string tensor;
  std::string seed;

  static constexpr auto fields() {
    return std::tuple{required("tensor", &Changed::tensor, ""),
                      required("seed", &Changed::seed, "")};
  }
};

/// Lays a trial out in both shared memories: the reference's at 0, the candidate's at `shift`.
struct Pose {
  Generate content;
  std::int64_t shift = 0;
  bool again = false;  ///< the contents of the last Pose, for the candidate only
  std::optional<Changed> changed;

  static constexpr auto fields() {
    return std::tuple{required("content", &Pose::content, ""), required("shift", &Pose::shift, ""),
                      required("again", &Pose::again, ""), optional("changed", &Pose::changed, "")};
  }
};

/// Looks at the reference's answer to the trial that is posed. Reply: `answered`.
struct Look {
  static constexpr auto fields() { return std::tuple<>{}; }
};

/// Compares. Descriptors: arena as it was sent, arena that came back, arena with expected outputs.
struct Compare {
  ArenaLayout layout;
  std::vector<Tolerance> tolerances;  ///< parallel to the layout's buffers; unused for inputs
  double matched_ratio = 1;           ///< share of each output that must be right

  static constexpr auto fields() {
    return std::tuple{required("layout", &Compare::layout, ""),
                      required("tolerances", &Compare::tolerances, ""),
                      optional("matched_ratio", &Compare::matched_ratio, "")};
  }
};

/// Compares what a call left in the candidate's shared memory, from a copy that nobody else can
/// reach. After a Pose `again` the reply also says whether all output bits are those of before.
struct Weigh {
  Compare compare;

  static constexpr auto fields() { return std::tuple{required("compare", &Weigh::compare, "")}; }
};

/// Compares what a kernel would leave if the control were all it did; a constant is the first
/// element of the answer that was looked at before. Reply: `forged`, and `comparison` where it is
/// true.
struct Feign {
  Control control = Control::zero;
  Compare compare;

  static constexpr auto fields() {
    return std::tuple{required("control", &Feign::control, ""),
                      required("compare", &Feign::compare, "")};
  }
};

}  // namespace ratchet::job
