#pragma once

// Counters that somebody else read: a report of Nsight Compute, taken in. Never a measurement of
// ours.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/facts/profile.h"

namespace ratchet {

/// How an imported report is known to be of a version's binary.
enum class Binding { own_report, holds_code, unbound };
constexpr auto enum_names(Binding) {
  return std::array{std::pair{Binding::own_report, "own_report"},
                    std::pair{Binding::holds_code, "holds_code"},
                    std::pair{Binding::unbound, "unbound"}};
}

struct ImportedProfile {
  std::string source = "imported";  ///< never measured here
  std::string file;
  std::string digest;  ///< SHA-256 of the file
  std::string format;  ///< ncu-rep, csv_raw or csv_details
  Binding binding = Binding::unbound;
  std::string binding_reason;
  std::vector<KernelCounters> kernels;
  std::vector<std::string> without_value;  ///< metrics that have no number in any launch
  std::string candidate_digest;            ///< of the version that it was imported beside

  static constexpr void fields(auto&& visit) {
    using I = ImportedProfile;
    visit(required("source", &I::source, "imported: this server did not measure it."),
          required("file", &I::file, "What was read."), required("digest", &I::digest, "SHA-256."),
          required("format", &I::format, "ncu-rep, csv_raw or csv_details."),
          required("binding", &I::binding, "own_report, holds_code (the version's) or unbound."),
          required("binding_reason", &I::binding_reason, "What that rests on."),
          required("kernels", &I::kernels, "Per launch, in base units."),
          required("without_value", &I::without_value, "Metrics without a number."),
          required("candidate_digest", &I::candidate_digest, "Binary it stands beside."));
  }
};

}  // namespace ratchet
