#pragma once

// Requests to a judge about the content of trials; judge_requests.h has those about answers. See
// messages.h for the roles.

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
  std::string seed;                  ///< hex; derived from the run's secret
  std::string distribution;          ///< see kernels/worker/generate.h
  std::int64_t index_limit = 0;      ///< exclusive bound of untyped integer inputs
  std::vector<std::string> given{};  ///< inputs that a function makes: they are left as they are

  static constexpr void fields(auto&& visit) {
    visit(required<&Generate::layout>(), required<&Generate::seed>(),
          required<&Generate::distribution>(), required<&Generate::index_limit>(),
          optional<&Generate::given>());
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

/// Allocates device memory that the judge shares with one other process each, for arenas of these
/// sizes at any shift. Reply: a descriptor for the reference, then those of candidates' pieces.
struct Share {
  std::int64_t arena_bytes = 0;      ///< of the largest arena: the reference's memory
  std::int64_t candidate_bytes = 0;  ///< of each candidate's memory
  int candidates = 0;
  int pieces = 0;  ///< of each candidate's memory, at most; 0: as many as a channel passes on

  static constexpr void fields(auto&& visit) {
    visit(required<&Share::arena_bytes>(), required<&Share::candidate_bytes>(),
          required<&Share::candidates>(), optional<&Share::pieces>());
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

/// A part of a tensor: the indices [from, to) of one axis, or of the flat tensor if `axis` is -1.
struct Slice {
  int axis = -1;
  std::int64_t from = 0;
  std::int64_t to = 0;
  double amount = 0;  ///< added to each element with alternating signs; 0: a new draw

  static constexpr void fields(auto&& visit) {
    visit(required<&Slice::axis>(), required<&Slice::from>(), required<&Slice::to>(),
          required<&Slice::amount>());
  }
};

/// One input, or a slice of it, that differs from the rest of the trial: drawn from another seed,
/// or moved by the slice's amount.
struct Changed {
  std::string tensor;
  std::string seed;
  std::optional<Slice> slice;

  static constexpr void fields(auto&& visit) {
    visit(required<&Changed::tensor>(), required<&Changed::seed>(), optional<&Changed::slice>());
  }
};

/// Copies an arena and changes a slice of it. Descriptors: the arena as it was sent, the arena to
/// fill.
struct Change {
  ArenaLayout layout;
  Changed changed;

  static constexpr void fields(auto&& visit) {
    visit(required<&Change::layout>(), required<&Change::changed>());
  }
};

/// How two arenas become one: buffer by buffer a sum, or the magnitudes of the first one's values.
enum class Combination { sum, magnitudes };
constexpr auto enum_names(Combination) {
  using enum Combination;
  return as_written<sum, magnitudes>();
}

/// Copies an arena and combines the named floating-point buffers with those of another.
/// Descriptors: both arenas, the arena to fill.
struct Combine {
  ArenaLayout layout;
  std::vector<std::string> names;
  Combination how = Combination::sum;

  static constexpr void fields(auto&& visit) {
    visit(required<&Combine::layout>(), required<&Combine::names>(), required<&Combine::how>());
  }
};

/// Copies an arena into one in which every floating-point buffer is float64. Descriptors: the
/// arena as it was sent, the arena to fill.
struct Widen {
  ArenaLayout layout;
  ArenaLayout wide;

  static constexpr void fields(auto&& visit) {
    visit(required<&Widen::layout>(), required<&Widen::wide>());
  }
};

/// Describes the reference's answer to a trial. Descriptor: the answer. Reply: `answered`, of which
/// only the magnitudes and `not_finite` are set.
struct Describe {
  ArenaLayout layout;

  static constexpr void fields(auto&& visit) { visit(required<&Describe::layout>()); }
};

/// Generates a trial in device memory: at 0 of the reference's memory and at `place` for a
/// candidate. Where a function makes some of the inputs (`given`), it takes two requests: the
/// first, without `place`, and after the reference's process stored its inputs, the second with
/// `adopt`.
struct GenerateOnDevice {
  Generate content;
  std::optional<Place> place;  ///< empty: no candidate receives it
  bool again = false;  ///< the content of the previous GenerateOnDevice, for the candidate only
  std::optional<Changed> changed;
  std::optional<Uses> uses;  ///< apply the changes of that many timed calls to the inputs
  bool adopt = false;  ///< the previous content, with the given inputs of the reference's memory

  static constexpr void fields(auto&& visit) {
    visit(required<&GenerateOnDevice::content>(), optional<&GenerateOnDevice::place>(),
          required<&GenerateOnDevice::again>(), optional<&GenerateOnDevice::changed>(),
          optional<&GenerateOnDevice::uses>(), optional<&GenerateOnDevice::adopt>());
  }
};

/// Stores the generated trial in memory that the judge shares with the reference alone, every
/// floating-point buffer in float64. Reply: `fits`, and the memory's descriptor if it is new.
struct WidenOnDevice {
  ArenaLayout wide;

  static constexpr void fields(auto&& visit) { visit(required<&WidenOnDevice::wide>()); }
};

/// Describes the reference's answer to the generated trial. Reply: `answered`.
struct DescribeOnDevice {
  static constexpr void fields(auto&&) {}
};

}  // namespace ratchet::wire

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<wire::Generate>();
extern template const FieldTable& table_of<wire::Uses>();
extern template const FieldTable& table_of<wire::Refresh>();
extern template const FieldTable& table_of<wire::Share>();
extern template const FieldTable& table_of<wire::Place>();
extern template const FieldTable& table_of<wire::Slice>();
extern template const FieldTable& table_of<wire::Changed>();
extern template const FieldTable& table_of<wire::Change>();
extern template const FieldTable& table_of<wire::Combine>();
extern template const FieldTable& table_of<wire::Widen>();
extern template const FieldTable& table_of<wire::Describe>();
extern template const FieldTable& table_of<wire::GenerateOnDevice>();
extern template const FieldTable& table_of<wire::WidenOnDevice>();
extern template const FieldTable& table_of<wire::DescribeOnDevice>();
}  // namespace ratchet::fields_detail
