#pragma once

// Ledger rows about memory, acceptance, dispatchers and signatures.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/findings.h"
#include "server/runs/records/search_requests.h"

namespace ratchet {

/// Versions masked (left out of every answer) or unmasked. `seed` is set by a partial restart.
struct MaskFact {
  std::vector<VersionId> versions;
  bool mask = true;
  std::string reason;
  std::optional<std::string> seed;

  static constexpr void fields(auto&& visit) {
    using M = MaskFact;
    visit(required<&M::versions>(), required<&M::mask>(), required<&M::reason>(),
          optional<&M::seed>());
  }
};

struct AcceptanceFact {
  std::vector<AcceptancePair> pairs;

  static constexpr void fields(auto&& visit) { visit(required<&AcceptanceFact::pairs>()); }
};

/// A verdict on an acceptance pair whose criterion is `review`.
struct ReviewFact {
  int pair = 0;
  ReviewVerdict verdict = ReviewVerdict::open;
  std::vector<std::string> looked_at;
  std::string note;

  static constexpr void fields(auto&& visit) {
    using R = ReviewFact;
    visit(required<&R::pair>(), required<&R::verdict>(), required<&R::looked_at>(),
          required<&R::note>());
  }
};

/// Whether the machine code of one binary shows a method: `verified`, `absent` or `unknown`, by
/// method id.
struct SignatureFact {
  std::string binary_digest;
  std::map<std::string, std::string> verdicts;

  static constexpr void fields(auto&& visit) {
    visit(required<&SignatureFact::binary_digest>(), required<&SignatureFact::verdicts>());
  }
};

/// One variant on one case. Speedup: fallback ÷ variant, paired.
struct VariantPoint {
  Dims dims;
  std::string variant;
  bool correct = false;
  std::optional<Timing> timing;
  std::optional<Comparison> comparison;
  std::vector<Reason> reasons;

  static constexpr void fields(auto&& visit) {
    using V = VariantPoint;
    visit(required<&V::dims>(), required<&V::variant>(), required<&V::correct>(),
          optional<&V::timing>(), optional<&V::comparison>(), required<&V::reasons>());
  }
};

/// Which variant serves a case, and how the generated dispatcher performed on it.
struct DispatchRoute {
  Dims dims;
  std::string variant;
  std::string why;
  std::optional<Comparison> dispatched;  ///< fallback ÷ dispatcher

  static constexpr void fields(auto&& visit) {
    using D = DispatchRoute;
    visit(required<&D::dims>(), required<&D::variant>(), required<&D::why>(),
          optional<&D::dispatched>());
  }
};

struct DispatchFact {
  std::vector<std::string> variants;
  std::string fallback;
  std::vector<VariantPoint> points;
  std::vector<DispatchRoute> routes;
  std::optional<Candidate> dispatcher;  ///< text in a blob; empty if one variant serves all cases
  std::string verdict;                  ///< single_variant, accepted, incorrect or slower
  std::vector<Reason> reasons;

  static constexpr void fields(auto&& visit) {
    using D = DispatchFact;
    visit(required<&D::variants>(), required<&D::fallback>(), required<&D::points>(),
          required<&D::routes>(), optional<&D::dispatcher>(), required<&D::verdict>(),
          required<&D::reasons>());
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<MaskFact>();
extern template const FieldTable& table_of<AcceptanceFact>();
extern template const FieldTable& table_of<ReviewFact>();
extern template const FieldTable& table_of<SignatureFact>();
extern template const FieldTable& table_of<VariantPoint>();
extern template const FieldTable& table_of<DispatchRoute>();
extern template const FieldTable& table_of<DispatchFact>();
}  // namespace ratchet::fields_detail
