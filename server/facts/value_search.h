#pragma once

// A search for input values on which a kernel is wrong, or takes another time.

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"

namespace ratchet {

/// What a bounded search over input values saw, beside the cases or times that it found.
struct ValueSearch {
  int tried = 0;
  int dropped = 0;  ///< of these, without a finite answer of the reference
  double seconds = 0;
  std::optional<std::string> hardest;  ///< the values with the largest errors
  /// They are within this many times the allowed ones; a power of four from 1/64 to 64.
  std::optional<double> strain;
  std::vector<std::string> kept;   ///< later checks and profiles of the run ask these too
  std::vector<std::string> notes;  ///< what was found and does not count, or why it ended early

  static constexpr void fields(auto&& visit) {
    using V = ValueSearch;
    visit(required<&V::tried>("Kinds of values tried."),
          optional<&V::dropped>("Left out: the reference's answer is not finite."),
          required<&V::seconds>("Time it took, s."),
          optional<&V::hardest>("Values with the largest errors."),
          optional<&V::strain>("Those errors are within so many times the allowed ones."),
          required<&V::kept>("Bad values: later checks and profiles ask them too."),
          optional<&V::notes>("What does not count, or why it ended early."));
  }
};

/// The most values that a run keeps: each costs every later check and profile.
inline constexpr std::size_t kMostKeptValues = 16;

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<ValueSearch>();
}  // namespace ratchet::fields_detail
