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
    visit(required("versions", &M::versions, ""), required("mask", &M::mask, ""),
          required("reason", &M::reason, ""), optional("seed", &M::seed, ""));
  }
};

struct AcceptanceFact {
  std::vector<AcceptancePair> pairs;

  static constexpr void fields(auto&& visit) {
    visit(required("pairs", &AcceptanceFact::pairs, ""));
  }
};

/// A verdict on an acceptance pair whose criterion is `review`.
struct ReviewFact {
  int pair = 0;
  ReviewVerdict verdict = ReviewVerdict::open;
  std::vector<std::string> looked_at;
  std::string note;

  static constexpr void fields(auto&& visit) {
    using R = ReviewFact;
    visit(required("pair", &R::pair, ""), required("verdict", &R::verdict, ""),
          required("looked_at", &R::looked_at, ""), required("note", &R::note, ""));
  }
};

/// Whether the machine code of one binary shows a method: `verified`, `absent` or `unknown`, by
/// method id.
struct SignatureFact {
  std::string binary_digest;
  std::map<std::string, std::string> verdicts;

  static constexpr void fields(auto&& visit) {
    visit(required("binary_digest", &SignatureFact::binary_digest, ""),
          required("verdicts", &SignatureFact::verdicts, ""));
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
    visit(required("dims", &V::dims, ""), required("variant", &V::variant, ""),
          required("correct", &V::correct, ""), optional("timing", &V::timing, ""),
          optional("comparison", &V::comparison, ""), required("reasons", &V::reasons, ""));
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
    visit(required("dims", &D::dims, ""), required("variant", &D::variant, ""),
          required("why", &D::why, ""), optional("dispatched", &D::dispatched, ""));
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
    visit(required("variants", &D::variants, ""), required("fallback", &D::fallback, ""),
          required("points", &D::points, ""), required("routes", &D::routes, ""),
          optional("dispatcher", &D::dispatcher, ""), required("verdict", &D::verdict, ""),
          required("reasons", &D::reasons, ""));
  }
};

}  // namespace ratchet
