#pragma once

// The result of a check: errors per output and case, faults of the kernel, the verdict.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/build.h"
#include "server/facts/contract.h"
#include "server/facts/value_search.h"

namespace ratchet {

/// A failure of the kernel itself while it ran.
struct Fault {
  static constexpr std::string_view kOrigin = "kernel";
  std::string kind;  ///< crash, timeout, cuda_error, out_of_memory, exit, output_flood, load_error
  std::string message;

  /// The whole for the end of another text.
  [[nodiscard]] std::string text() const { return behind_fence(kind + ": " + message); }

  static constexpr void fields(auto&& visit) {
    visit(required<&Fault::kind>("crash, timeout, cuda_error, exit, …"),
          required<&Fault::message>("What happened."));
  }
};

struct OutputError {
  std::string tensor;
  double max_abs = 0;
  double max_rel = 0;
  double mean_abs = 0;
  std::int64_t mismatches = 0;
  std::int64_t elements = 0;
  double matched = 1;                     ///< share of the elements within tolerance
  std::optional<std::int64_t> first_bad;  ///< flat index
  std::vector<double> preview_kernel;     ///< first 8 values
  std::vector<double> preview_reference;

  static constexpr void fields(auto&& visit) {
    using O = OutputError;
    visit(required<&O::tensor>("Output tensor."), required<&O::max_abs>("Largest absolute error."),
          required<&O::max_rel>("Largest relative error."),
          required<&O::mean_abs>("Mean absolute error."),
          required<&O::mismatches>("Elements out of tolerance."),
          required<&O::elements>("Elements compared."),
          optional<&O::matched>("Share of the elements within tolerance."),
          optional<&O::first_bad>("Flat index of the first mismatch."),
          required<&O::preview_kernel>("First values of the kernel."),
          required<&O::preview_reference>("First values of the reference."));
  }
};

struct CaseResult {
  Dims dims;
  int seed = 0;              ///< index of the secret seed, not the seed
  std::string distribution;  ///< normal, shifted, … or values that a search kept: "zeros(0.9)"
  bool hidden = false;
  bool passed = false;
  double max_abs = 0;
  double max_rel = 0;
  std::int64_t mismatches = 0;
  std::vector<OutputError> outputs;

  static constexpr void fields(auto&& visit) {
    using C = CaseResult;
    visit(required<&C::dims>("Sizes."), required<&C::seed>("Index of the secret seed."),
          required<&C::distribution>("Input distribution."),
          optional<&C::hidden>("Added by the server."),
          required<&C::passed>("All outputs within tolerance."),
          required<&C::max_abs>("Largest absolute error."),
          required<&C::max_rel>("Largest relative error."),
          required<&C::mismatches>("Elements out of tolerance."),
          required<&C::outputs>("Per output tensor."));
  }
};

struct CorrectnessReport {
  bool passed = false;
  std::vector<CaseResult> cases;
  std::vector<Reason> reasons;  ///< why it failed; empty when passed
  std::vector<Reason> notes;  ///< what weakens the claim: fixed seed, no sandbox, not repeatable, …
  std::optional<Fault> fault;
  double atol = 0;
  double rtol = 0;
  double matched_ratio = 1;  ///< share that every output had to reach
  bool repeatable = true;    ///< bitwise equal when run twice on the same input
  double elapsed_ms = 0;
  std::string candidate_digest;
  std::optional<ValueSearch> search;  ///< if asked for

  static constexpr void fields(auto&& visit) {
    using C = CorrectnessReport;
    visit(required<&C::passed>("Verdict."),
          required<&C::cases>("One per case, seed and distribution."),
          required<&C::reasons>("Why it failed."), required<&C::notes>("What weakens the claim."),
          optional<&C::fault>("The failure of the kernel itself."),
          required<&C::atol>("Absolute tolerance."), required<&C::rtol>("Relative tolerance."),
          optional<&C::matched_ratio>("Share of each output that had to match."),
          required<&C::repeatable>("Outputs were bitwise equal when run twice."),
          required<&C::elapsed_ms>("Wall time, ms."),
          required<&C::candidate_digest>("SHA-256 of the binary that was checked."),
          optional<&C::search>("A search for input values that it fails on."));
  }
};

/// What a search over input values adds to the report of a check: cases that failed, and why.
struct SearchedValues {
  ValueSearch search;
  std::vector<CaseResult> cases;
  std::vector<Reason> reasons;
  std::optional<Fault> fault;

  static constexpr void fields(auto&& visit) {
    using S = SearchedValues;
    visit(required<&S::search>(), required<&S::cases>(), required<&S::reasons>(),
          optional<&S::fault>());
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<Fault>();
extern template const FieldTable& table_of<OutputError>();
extern template const FieldTable& table_of<CaseResult>();
extern template const FieldTable& table_of<CorrectnessReport>();
extern template const FieldTable& table_of<SearchedValues>();
}  // namespace ratchet::fields_detail
