#include <fmt/format.h>

#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

template <class T>
std::string known(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "N/A";
}

std::string diagnostics(const std::vector<Diagnostic>& all) {
  if (all.empty()) return "None.\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : all)
    rows.push_back({one.file, one.line > 0 ? std::to_string(one.line) : "-", one.message});
  return markdown::table({"File", "Line", "Message"}, rows);
}

}  // namespace

Rendered build(const Subject& subject, const BuildFact& fact) {
  const auto& record = fact.candidate.build;
  const auto& contract = subject.state.contract.contract;
  markdown::Fields fields{{"Kernel", kernel_file_name(contract.implementation)},
                          {"Implementation", std::string(name_of(contract.implementation))},
                          {"Arch", contract.arch},
                          {"Result", record.ok ? "BUILT" : "FAILED"},
                          {"Toolchain", record.toolchain},
                          {"Command", record.command},
                          {"Registers / thread", known(record.registers)},
                          {"Static shared memory (bytes)", known(record.shared_bytes)},
                          {"Spills (bytes)", known(record.spill_bytes)},
                          {"Stack (bytes)", known(record.stack_bytes)},
                          {"Build time (ms)", markdown::number(record.build_ms)},
                          {"From the build cache", record.cached ? "yes" : "no"}};
  if (fact.note) fields.emplace_back("Note", *fact.note);
  // A failed build describes its own source, not the kernel that the version may still have.
  for (auto& field : provenance(subject)) {
    if (field.first == "Source SHA-256" || field.first == "Binary SHA-256") continue;
    fields.push_back(std::move(field));
  }
  fields.emplace_back("Source SHA-256", fact.source_blob);
  fields.emplace_back("Binary SHA-256", record.ok ? record.binary_digest : "none");
  return {subject.version.id.text() + "/build.md",
          fmt::format("# Build\n\n{}\n## Errors\n\n{}\n## Warnings\n\n{}",
                      markdown::field_table(fields), diagnostics(record.errors),
                      diagnostics(record.warnings))};
}

}  // namespace ratchet::render
