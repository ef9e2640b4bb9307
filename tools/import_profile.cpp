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
          required<&A::path>("An .ncu-rep file, or a CSV export of its raw or details page.",
                             {.max_length = 4096}),
          optional<&A::version>("Default: the open one."));
  }
};

/// A launch in the report; its counters are in the artifact.
struct ImportedLaunch {
  std::string kernel;
  int metrics = 0;
  std::optional<double> duration_ns;

  static constexpr void fields(auto&& visit) {
    using L = ImportedLaunch;
    visit(required<&L::kernel>("Kernel name."),
          required<&L::metrics>("Number of metrics with a value."),
          optional<&L::duration_ns>("According to the report, ns."));
  }
};

struct ImportProfileAnswer : ArtifactAnswer, ImportedProfile {
  std::vector<ImportedLaunch> launches;

  static constexpr void fields(auto&& visit) {
    using A = ImportProfileAnswer;
    ArtifactAnswer::fields(visit);
    visit(required<&A::format>("ncu-rep, csv_raw or csv_details."),
          required<&A::binding>(
              "How the report is tied to the version: own_report, holds_code or unbound."),
          required<&A::binding_reason>("The evidence for the binding."),
          required<&A::launches>("In the order of the report."),
          required<&A::without_value>("Metrics without a value."));
  }
};

ImportProfileAnswer answer_of(ArtifactAnswer view, ImportedProfile imported) {
  ImportProfileAnswer answer{std::move(view), std::move(imported), {}};
  for (const auto& kernel : answer.kernels) {
    ImportedLaunch launch{.kernel = kernel.name,
                          .metrics = static_cast<int>(kernel.metrics.size())};
    const auto duration = kernel.metrics.find("gpu__time_duration.sum");
    if (duration != kernel.metrics.end()) launch.duration_ns = duration->second;
    answer.launches.push_back(std::move(launch));
  }
  return answer;
}

}  // namespace

Tool import_profile(const Services& services) {
  return make_tool<ImportProfileArgs, ImportProfileAnswer>(
      {.name = "import_profile",
       .summary = "Import an Nsight Compute report or CSV for a version. It never counts as "
                  "measured here.",
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
        return answer_of(*std::move(written), *std::move(imported));
      });
}

}  // namespace ratchet
