#pragma once

// A comparison of two versions of a run.

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/build.h"
#include "server/facts/profile.h"

namespace ratchet {

/// A version for a comparison; borrowed.
struct ComparedVersion {
  const Candidate* candidate = nullptr;
  const Profile* profile = nullptr;
};

/// One number of both versions; empty where a version does not have it.
struct ValuePair {
  std::string name;
  std::optional<double> a, b;
  std::optional<double> change;  ///< b ÷ a − 1

  static constexpr void fields(auto&& visit) {
    using V = ValuePair;
    visit(required<&V::name>("What is compared."), optional<&V::a>("Value in a."),
          optional<&V::b>("Value in b."), optional<&V::change>("b ÷ a − 1."));
  }
};

struct VersionDiff {
  static constexpr std::string_view kOrigin = "kernel sources";
  std::vector<ValuePair> timing;
  std::string timing_note;  ///< whether the two were timed against each other
  std::string bound_a, bound_b;
  std::vector<ValuePair> metrics;    ///< of the longest kernels, largest change first
  std::vector<ValuePair> resources;  ///< registers, shared bytes, spills, stack
  std::vector<std::string> findings_gone, findings_new;
  std::string source_diff;           ///< changed lines, − of a and + of b
  std::vector<ValuePair> sass_diff;  ///< instructions by opcode, largest change first
  std::string sass_note;             ///< why sass_diff is empty

  static constexpr void fields(auto&& visit) {
    using V = VersionDiff;
    visit(required<&V::timing>("Times, ns."),
          required<&V::timing_note>("Whether the two were timed against each other."),
          required<&V::bound_a>("What limits a."), required<&V::bound_b>("What limits b."),
          required<&V::metrics>("Counters, largest change first."),
          required<&V::resources>("Registers, shared memory, spills and stack of the builds."),
          required<&V::findings_gone>("Diagnosed only in a."),
          required<&V::findings_new>("Diagnosed only in b."),
          required<&V::source_diff>("Changed lines, − of a and + of b."),
          required<&V::sass_diff>("Instructions by opcode, largest change first."),
          required<&V::sass_note>("Why sass_diff is empty."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<ValuePair>();
extern template const FieldTable& table_of<VersionDiff>();
}  // namespace ratchet::fields_detail
