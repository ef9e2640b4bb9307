// Imports external reports for a version: of Nsight Compute, rocprofv3 and rocprof-compute.

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "kernels/counters/ncu.h"
#include "kernels/counters/ncu_report.h"
#include "kernels/counters/rocprof_report.h"
#include "kernels/disassembly/disassembler.h"
#include "kernels/lab/laboratory.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

constexpr std::size_t kSniffedBytes = 4096;
constexpr std::string_view kDatabase = "SQLite format 3";

/// Tables are text; a report is binary, whatever its name.
bool is_binary(std::string_view content) {
  return content.substr(0, kSniffedBytes).find('\0') != std::string_view::npos;
}

/// Whether a report (its bytes; empty for a table) belongs to the version's binary, and why.
std::pair<Binding, std::string> binding_of(LabParts& lab, const Contract& contract,
                                           const ImportRequest& request, const std::string& digest,
                                           std::string_view report, const CallContext& call) {
  const auto* const ours = request.profile;
  if (ours && ours->report && ours->report->digest == digest &&
      ours->candidate_digest == request.candidate->build.binary_digest)
    return {Binding::own_report, "profile_kernel wrote this file for this binary"};
  if (report.empty())
    return {Binding::unbound, "a CSV report does not say which binary it measured"};
  auto codes = lab.gpu_codes_of(contract, *request.candidate, call);
  if (!codes)
    return {Binding::unbound, "the version's own code could not be read: " + codes.error().message};
  for (const auto& code : *codes)
    if (report.find(code) != std::string::npos)
      return {Binding::holds_code, fmt::format("it contains the version's GPU code (SHA-256 {})",
                                               sha256_hex(code).substr(0, 16))};
  return {Binding::unbound, "it contains no code of this version's binary"};
}

/// Reports about an AMD GPU, on which nothing of this server runs.
Status take_rocprof(std::string_view content, ImportedProfile& imported) {
  auto report = content.starts_with(kDatabase) ? read_rocpd(content) : read_rocprof(content);
  if (!report) return report.error();
  imported.format = report->format;
  imported.kernels = std::move(report->kernels);
  imported.without_value = std::move(report->unavailable);
  if (!report->device.empty()) imported.device = std::move(report->device);
  imported.binding_reason = "a report about an AMD GPU does not say which binary it measured";
  return {};
}

Status take_ncu(LabParts& lab, const Contract& contract, const ImportRequest& request,
                const CallContext& call, ImportedProfile& imported) {
  const std::string_view content = request.content;
  const bool is_report =
      is_binary(content) || request.file_name.find(".ncu-rep") != std::string::npos;
  std::string table;
  if (is_report) {
    auto page = ncu_raw_page(content, request.file_name, lab.builder.toolchain(), call.stop());
    if (!page) return page.error();
    table = *std::move(page);
  }
  auto report = read_ncu_csv(is_report ? table : content);
  if (!report) return report.error();
  imported.format = is_report                                  ? "ncu-rep"
                    : report->page == NcuReport::Page::details ? "csv_details"
                                                               : "csv_raw";
  imported.kernels = std::move(report->kernels);
  imported.without_value = std::move(report->unavailable);
  imported.without_value.insert(imported.without_value.end(), report->not_numbers.begin(),
                                report->not_numbers.end());
  std::tie(imported.binding, imported.binding_reason) = binding_of(
      lab, contract, request, imported.digest, is_report ? content : std::string_view(), call);
  return {};
}

}  // namespace

Result<ImportedProfile> Laboratory::import_profile(const Contract& contract,
                                                   const ImportRequest& request,
                                                   CallContext& call) {
  const std::string_view content = request.content;
  if (content.empty())
    return invalid_argument("path: the file is empty", "Export the report again.");
  ImportedProfile imported;
  imported.file = request.file_name;
  imported.digest = sha256_hex(content);
  imported.candidate_digest = request.candidate->build.binary_digest;
  const bool foreign = content.starts_with(kDatabase) || is_rocprof(content);
  auto read = foreign ? take_rocprof(content, imported)
                      : take_ncu(*this, contract, request, call, imported);
  if (!read)
    return Error{read.error().code,
                 fmt::format("path: {}: {}", request.file_name, read.error().message),
                 read.error().hint};
  return imported;
}

}  // namespace ratchet
