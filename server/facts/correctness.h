#pragma once

// The result of a check: errors per output and case, faults of the kernel, the verdict.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/build.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A failure of the kernel itself while it ran.
struct Fault {
  std::string kind;  ///< crash, timeout, cuda_error, out_of_memory, exit, output_flood, load_error
  std::string message;

  static constexpr void fields(auto&& visit) {
    visit(required("kind", &Fault::kind, "crash, timeout, cuda_error, exit, …"),
          required("message", &Fault::message, "What happened."));
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
    visit(required("tensor", &O::tensor, "Output tensor."),
          required("max_abs", &O::max_abs, "Largest absolute error."),
          required("max_rel", &O::max_rel, "Largest relative error."),
          required("mean_abs", &O::mean_abs, "Mean absolute error."),
          required("mismatches", &O::mismatches, "Elements out of tolerance."),
          required("elements", &O::elements, "Elements compared."),
          optional("matched", &O::matched, "Share of the elements within tolerance."),
          optional("first_bad", &O::first_bad, "Flat index of the first mismatch."),
          required("preview_kernel", &O::preview_kernel, "First values of the kernel."),
          required("preview_reference", &O::preview_reference, "First values of the reference."));
  }
};

struct CaseResult {
  Dims dims;
  int seed = 0;              ///< index of the secret seed, not the seed
  std::string distribution;  ///< normal, shifted, large, small
  bool hidden = false;
  bool passed = false;
  double max_abs = 0;
  double max_rel = 0;
  std::int64_t mismatches = 0;
  std::vector<OutputError> outputs;

  static constexpr void fields(auto&& visit) {
    using C = CaseResult;
    visit(required("dims", &C::dims, "Sizes."),
          required("seed", &C::seed, "Index of the secret seed."),
          required("distribution", &C::distribution, "Input distribution."),
          optional("hidden", &C::hidden, "Added by the server."),
          required("passed", &C::passed, "All outputs within tolerance."),
          required("max_abs", &C::max_abs, "Largest absolute error."),
          required("max_rel", &C::max_rel, "Largest relative error."),
          required("mismatches", &C::mismatches, "Elements out of tolerance."),
          required("outputs", &C::outputs, "Per output tensor."));
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

  static constexpr void fields(auto&& visit) {
    using C = CorrectnessReport;
    visit(required("passed", &C::passed, "Verdict."),
          required("cases", &C::cases, "One per case, seed and distribution."),
          required("reasons", &C::reasons, "Why it failed."),
          required("notes", &C::notes, "What weakens the claim."),
          optional("fault", &C::fault, "The failure of the kernel itself."),
          required("atol", &C::atol, "Absolute tolerance."),
          required("rtol", &C::rtol, "Relative tolerance."),
          optional("matched_ratio", &C::matched_ratio, "Share of each output that had to match."),
          required("repeatable", &C::repeatable, "Outputs were bitwise equal when run twice."),
          required("elapsed_ms", &C::elapsed_ms, "Wall time, ms."),
          required("candidate_digest", &C::candidate_digest,
                   "SHA-256 of the binary that was checked."));
  }
};

}  // namespace ratchet
