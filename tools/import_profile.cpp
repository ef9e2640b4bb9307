#include <algorithm>

#include "kbs/knowledge.h"
#include "kernels/lab.h"
#include "server/core/roots.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostReport = std::size_t{256} << 20U;

struct ImportProfileArgs {
  RunId run;
  std::string path;
  std::optional<VersionId> version;

  static constexpr void fields(auto&& visit) {
    using A = ImportProfileArgs;
    visit(required<&A::run>(),
          required<&A::path>("A report: .ncu-rep, rocpd, rocprofv3 JSON, or CSV.",
                             {.max_length = 4096}),
          optional<&A::version>("Default: the open one."));
  }
};

/// A launch in the report; its counters are in the artifact.
struct ImportedLaunch {
  std::string kernel;
  int metrics = 0;
  std::optional<double> duration_ns;
  std::optional<double> bandwidth_pct;

  static constexpr void fields(auto&& visit) {
    using L = ImportedLaunch;
    visit(required<&L::kernel>("Kernel name."),
          required<&L::metrics>("Number of metrics with a value."),
          optional<&L::duration_ns>("According to the report, ns."),
          optional<&L::bandwidth_pct>("Of the device's documented memory bandwidth."));
  }
};

struct ImportProfileAnswer : ArtifactAnswer, ImportedProfile {
  std::vector<ImportedLaunch> launches;
  std::optional<std::vector<Spec>> specs;

  static constexpr void fields(auto&& visit) {
    using A = ImportProfileAnswer;
    ArtifactAnswer::fields(visit);
    visit(required<&A::format>(
              "ncu-rep, csv_raw, csv_details, rocprofv3_csv, rocprofv3_json, rocpd or "
              "rocprof_compute_csv."),
          required<&A::binding>(
              "How the report is tied to the version: own_report, holds_code or unbound."),
          required<&A::binding_reason>("The evidence for the binding."),
          optional<&A::device>("The device that it names."),
          optional<&A::specs>("What the wiki documents about that device."),
          required<&A::launches>("In the order of the report."),
          required<&A::without_value>("Metrics without a value."));
  }
};

/// The documented memory bandwidth in bytes/s; empty if there is none.
std::optional<double> documented_bandwidth(const std::optional<std::vector<Spec>>& specs) {
  if (!specs) return std::nullopt;
  const auto found = std::ranges::find(*specs, "dram_bandwidth", &Spec::metric);
  if (found == specs->end() || found->unit != "GB/s") return std::nullopt;
  return found->value * 1e9;
}

ImportProfileAnswer answer_of(ArtifactAnswer view, ImportedProfile imported,
                              std::optional<std::vector<Spec>> specs) {
  ImportProfileAnswer answer{std::move(view), std::move(imported), {}, std::move(specs)};
  const auto bandwidth = documented_bandwidth(answer.specs);
  for (const auto& kernel : answer.kernels) {
    ImportedLaunch launch{.kernel = kernel.name,
                          .metrics = static_cast<int>(kernel.metrics.size())};
    const auto duration = kernel.metrics.find("gpu__time_duration.sum");
    if (duration != kernel.metrics.end()) launch.duration_ns = duration->second;
    const auto rate = kernel.metrics.find("dram__bytes.sum.per_second");
    if (bandwidth && rate != kernel.metrics.end())
      launch.bandwidth_pct = 100 * rate->second / *bandwidth;
    answer.launches.push_back(std::move(launch));
  }
  return answer;
}

}  // namespace

Tool import_profile(const Services& services) {
  return make_tool<ImportProfileArgs, ImportProfileAnswer>(
      {.name = "import_profile",
       .summary = "Import a report of ncu or rocprof; it never counts as measured here.",
       .effect = Effect::writes,
       .toolset = Toolset::analysis,
       .idempotent = true},
      [services](const ImportProfileArgs& args, CallContext& call) -> Result<ImportProfileAnswer> {
        auto subject = services.runs.subject(args.run, args.version);
        if (!subject) return subject.error();
        const auto file = services.roots.read(args.path, kMostReport);
        if (!file) return file.error().at("path");
        auto imported = services.lab.import_profile(
            subject->contract,
            {&subject->candidate, subject->profile ? &*subject->profile : nullptr,
             file->path.filename().string(), file->bytes},
            call);
        if (!imported) return imported.error();
        auto written = services.runs.record_analysis(
            *subject, analysis_of("import_profile", *subject, *imported),
            {{"imported_profile.json", ""}});
        if (!written) return written.error();
        std::optional<std::vector<Spec>> specs;
        if (imported->device)
          if (auto known = services.knowledge.lookup_spec(*imported->device, {});
              known && !known->specs.empty())
            specs = std::move(known->specs);
        return answer_of(*std::move(written), *std::move(imported), std::move(specs));
      });
}

}  // namespace ratchet
