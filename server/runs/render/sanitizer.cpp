#include <fmt/format.h>

#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::table;

std::string runs(const SanitizerReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& run : report.runs)
    rows.push_back({std::string(name_of(run.tool)), run.finished ? "yes" : "no",
                    std::to_string(run.errors), fmt::format("{:.1f} s", run.elapsed_ms / 1000),
                    run.detail.empty() ? "-" : markdown::cell(run.detail)});
  return table({"Tool", "Covered the whole call", "Errors", "Took", "Remarks"}, rows);
}

std::string findings(const SanitizerReport& report) {
  if (report.findings.empty()) return "None.\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : report.findings)
    rows.push_back({std::string(name_of(one.tool)), one.severity, markdown::cell(one.kind),
                    one.line > 0 ? fmt::format("{}:{}", one.file, one.line) : "unknown",
                    markdown::cell(one.function), std::to_string(one.count),
                    markdown::cell(one.message)});
  auto text =
      table({"Tool", "Severity", "Kind", "Place", "Kernel", "Reports", "First report"}, rows);
  if (report.dropped > 0) text += fmt::format("\n{} more places are not shown.\n", report.dropped);
  return text;
}

}  // namespace

Rendered sanitizer(const Subject& subject, const SanitizerReport& report) {
  const auto& contract = subject.state.contract.contract;
  markdown::Fields fields{{"Kernel", kernel_file_name(contract.implementation)},
                          {"GPU", contract.device_name},
                          {"Arch", contract.arch},
                          {"Dims", markdown::dims_text(report.dims)},
                          {"compute-sanitizer", report.version},
                          {"Result", report.clean() ? "nothing found" : "see below"},
                          {"Sandbox", report.sandbox + "; the tool itself runs outside it"}};
  for (auto& field : provenance(subject)) fields.push_back(std::move(field));
  return {subject.version.id.text() + "/sanitizer.md",
          fmt::format("# Sanitizer\n\nAdvice: one instrumented call a tool. It decides nothing and "
                      "times nothing.\n\n{}\n## Tools\n\n{}\n## Findings\n\n{}",
                      markdown::field_table(fields), runs(report), findings(report))};
}

}  // namespace ratchet::render
