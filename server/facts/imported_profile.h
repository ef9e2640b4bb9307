#pragma once

// An imported report of Nsight Compute, rocprofv3 or rocprof-compute. It never counts as measured
// by this server.

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/profile.h"

namespace ratchet {

/// How an imported report is tied to the binary of a version.
enum class Binding { own_report, holds_code, unbound };
constexpr auto enum_names(Binding) {
  using enum Binding;
  return as_written<own_report, holds_code, unbound>();
}

struct ImportedProfile {
  static constexpr std::string_view kOrigin = "imported report";
  std::string source = "imported";  ///< never a measurement of this server
  std::string file;
  std::string digest;                 ///< SHA-256 of the file
  std::string format;                 ///< ncu-rep, csv_raw, csv_details, or that of a RocprofReport
  std::optional<std::string> device;  ///< the product or architecture that it names
  Binding binding = Binding::unbound;
  std::string binding_reason;
  std::vector<KernelCounters> kernels;
  std::vector<std::string> without_value;  ///< metrics without a value in any launch
  std::string candidate_digest;            ///< of the version that it was imported for

  static constexpr void fields(auto&& visit) {
    using I = ImportedProfile;
    visit(required<&I::source>("imported: this server did not measure it."),
          required<&I::file>("File that was read."), required<&I::digest>("SHA-256 of the file."),
          required<&I::format>("ncu-rep, csv_raw, rocprofv3_csv, rocpd, …"),
          optional<&I::device>("The device that it names."),
          required<&I::binding>("own_report, holds_code (it has the version's code) or unbound."),
          required<&I::binding_reason>("The evidence for the binding."),
          required<&I::kernels>("Counters per launch, in base units."),
          required<&I::without_value>("Metrics without a value."),
          required<&I::candidate_digest>("SHA-256 of the binary it was imported for."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<ImportedProfile>();
}  // namespace ratchet::fields_detail
