#include <fmt/format.h>

#include <cstdint>
#include <map>

#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::number;
using markdown::table;

/// The sizes of a hidden case are shown only if the kernel fails on it.
std::string case_dims(const CaseResult& one) {
  if (one.hidden && one.passed) return "hidden";
  return markdown::dims_text(one.dims) + (one.hidden ? " (hidden case)" : "");
}

std::string type_of(const Contract& contract, const std::string& tensor) {
  for (const auto& spec : contract.tensors)
    if (spec.name == tensor) return std::string(name_of(spec.dtype));
  return "unknown";
}

/// One row per output tensor: the worst over all cases, seeds and distributions.
std::string tensors(const Contract& contract, const CorrectnessReport& report) {
  struct Worst {
    bool passed = true;
    double max_abs = 0, mean_abs = 0, max_rel = 0, matched = 1;
    std::int64_t mismatches = 0;
  };
  std::map<std::string, Worst> worst;
  for (const auto& one : report.cases) {
    for (const auto& output : one.outputs) {
      auto& row = worst[output.tensor];
      row.passed = row.passed && (one.passed || output.mismatches == 0);
      row.max_abs = std::max(row.max_abs, output.max_abs);
      row.mean_abs = std::max(row.mean_abs, output.mean_abs);
      row.max_rel = std::max(row.max_rel, output.max_rel);
      row.matched = std::min(row.matched, output.matched);
      row.mismatches += output.mismatches;
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, row] : worst)
    rows.push_back({name, type_of(contract, name), row.passed ? "✓" : "✗", number(row.max_abs),
                    number(row.mean_abs), number(row.max_rel), std::to_string(row.mismatches),
                    fmt::format("{:.6g} %", row.matched * 100)});
  return table(
      {"Tensor", "Type", "Pass", "Max |Δ|", "Mean |Δ|", "Max Rel", "Mismatches", "Least matched"},
      rows);
}

std::string cases(const CorrectnessReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : report.cases)
    rows.push_back({case_dims(one), fmt::format("#{}", one.seed), one.distribution,
                    one.passed ? "✓" : "✗", number(one.max_abs), number(one.max_rel),
                    std::to_string(one.mismatches)});
  return table({"Dims", "Seed", "Inputs", "Pass", "Max |Δ|", "Max Rel", "Mismatches"}, rows);
}

std::string previews(const CorrectnessReport& report) {
  // The first failing case, or the first case if all pass.
  const CaseResult* shown = nullptr;
  for (const auto& one : report.cases)
    if (shown == nullptr || (shown->passed && !one.passed)) shown = &one;
  if (shown == nullptr) return "None.\n";
  const auto values = [](const std::vector<double>& all) {
    std::string text;
    for (const double value : all) markdown::append(text, number(value));
    return text;
  };
  std::vector<std::vector<std::string>> rows;
  for (const auto& output : shown->outputs) {
    rows.push_back({output.tensor, "kernel", values(output.preview_kernel)});
    rows.push_back({output.tensor, "reference", values(output.preview_reference)});
  }
  return table({"Tensor", "From", "First values"}, rows);
}

/// Empty if none was asked for: the page is then what earlier versions wrote.
std::string search(const std::optional<ValueSearch>& search) {
  if (!search) return "";
  std::string text = fmt::format(
      "\n## Search\n\n- {} kinds of input values in {:.1f} s; {} left out because the reference's "
      "answer is not finite there\n",
      search->tried, search->seconds, search->dropped);
  if (search->hardest && search->strain)
    text += fmt::format("- largest errors on {}: within {:g} times the allowed ones\n",
                        *search->hardest, *search->strain);
  for (const auto& values : search->kept)
    text += fmt::format("- kept: {}; later checks and profiles ask it too\n", values);
  for (const auto& note : search->notes) text += fmt::format("- {}\n", markdown::one_line(note));
  return text;
}

}  // namespace

Rendered correctness(const Subject& subject) {
  const auto& contract = subject.state.contract.contract;
  const auto& report = *subject.version.correctness;
  markdown::Fields fields{
      {"Kernel", kernel_file_name(contract.implementation)},
      {"Implementation", std::string(name_of(contract.implementation))},
      {"Reference", reference_file_name(contract.reference_kind)},
      {"GPU", contract.device_name},
      {"Arch", contract.arch},
      {"Dims", markdown::dims_text(timed_dims(contract))},
      {"Buf/ptr", fmt::format("{} tensors, sized by shape", contract.tensors.size())},
      {"Tolerance", fmt::format("atol={} rtol={}", number(report.atol), number(report.rtol))},
      {"Required match", fmt::format("{:.6g} % of each output", report.matched_ratio * 100)},
      {"Result", report.passed ? "ALL PASS" : "FAILED"},
      {"Checks", std::to_string(report.cases.size())},
      {"Seeds", contract.seed_given ? "given by the caller (weaker claim)" : "secret"},
      {"Repeatable", report.repeatable ? "bitwise" : "no"}};
  if (const auto& judge = contract.judge)
    fields.emplace_back(
        "Judge", fmt::format("rules {}: c = {:g}; 16-bit noise {:g}, bias {:g}; given atol up to "
                             "{:g} times the server's; slices from {:g} allowed errors",
                             judge->version, judge->honest, judge->noise, judge->bias,
                             judge->looser, judge->moved));
  if (report.fault)
    fields.emplace_back("Fault", fmt::format("{}: {}", report.fault->kind, report.fault->message));
  for (auto& field : provenance(subject)) fields.push_back(std::move(field));
  return {
      subject.version.id.text() + "/correctness.md",
      fmt::format("# Correctness Check\n\n{}\n## Output Tensors\n\n{}\n## Value Previews\n\n{}\n"
                  "## Cases\n\n{}\n## Reasons\n\n{}\n## Notes\n\n{}{}",
                  markdown::field_table(fields), tensors(contract, report), previews(report),
                  cases(report), markdown::reasons(report.reasons), markdown::reasons(report.notes),
                  search(report.search))};
}

}  // namespace ratchet::render
