#include "server/core/files.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ImportProfileArgs {
  RunId run;
  std::string path;
  std::optional<VersionId> version;

  static constexpr void fields(auto&& visit) {
    using A = ImportProfileArgs;
    visit(required("run", &A::run, "Run id."),
          required("path", &A::path, "An .ncu-rep, or CSV of its raw or details page.",
                   {.max_length = 4096}),
          optional("version", &A::version, "Default: the open one."));
  }
};

/// A launch of the report; its counters are in the artifact.
struct ImportedLaunch {
  std::string kernel;
  int metrics = 0;
  std::optional<double> duration_ns;

  static constexpr void fields(auto&& visit) {
    using L = ImportedLaunch;
    visit(required("kernel", &L::kernel, "Kernel name."),
          required("metrics", &L::metrics, "How many have a number."),
          optional("duration_ns", &L::duration_ns, "By the report."));
  }
};

struct ImportProfileAnswer : ArtifactAnswer {
  std::string format;
  Binding binding = Binding::unbound;
  std::string binding_reason;
  std::vector<ImportedLaunch> launches;
  std::vector<std::string> without_value;

  static constexpr void fields(auto&& visit) {
    using A = ImportProfileAnswer;
    ArtifactAnswer::fields(visit);
    visit(required("format", &A::format, "ncu-rep, csv_raw or csv_details."),
          required("binding", &A::binding, "own_report, holds_code or unbound."),
          required("binding_reason", &A::binding_reason, "What that rests on."),
          required("launches", &A::launches, "In the report's order."),
          required("without_value", &A::without_value, "Metrics without a number."));
  }
};

ImportProfileAnswer answer_of(ArtifactAnswer view, ImportedProfile imported) {
  ImportProfileAnswer answer{{std::move(view)},
                             std::move(imported.format),
                             imported.binding,
                             std::move(imported.binding_reason),
                             {},
                             std::move(imported.without_value)};
  for (const auto& kernel : imported.kernels) {
    const auto duration = kernel.metrics.find("gpu__time_duration.sum");
    answer.launches.push_back(
        {kernel.name, static_cast<int>(kernel.metrics.size()),
         duration == kernel.metrics.end() ? std::nullopt : std::optional(duration->second)});
  }
  return answer;
}

}  // namespace

Tool import_profile(const Services& services) {
  return make_tool<ImportProfileArgs, ImportProfileAnswer>(
      {.name = "import_profile",
       .summary = "Read an Nsight Compute report or CSV beside a version: never counts as measured "
                  "here; bound to the binary by hash where that can be shown.",
       .effect = Effect::writes,
       .toolset = Toolset::analysis,
       .idempotent = true},
      [services](const ImportProfileArgs& args, CallContext& call) -> Result<ImportProfileAnswer> {
        auto subject = services.runs.subject(args.run, args.version);
        if (!subject) return subject.error();
        auto path = inside_roots(args.path, services.roots);
        if (!path)
          return Error{path.error().code, "path: " + path.error().message, path.error().hint};
        auto imported = services.lab.import_profile(
            subject->contract,
            {&subject->candidate, subject->profile ? &*subject->profile : nullptr, *path}, call);
        if (!imported) return imported.error();
        auto written = services.runs.record_analysis(
            *subject, analysis_of("import_profile", *subject, *imported),
            {{"imported_profile.json", ""}});
        if (!written) return written.error();
        return answer_of(*std::move(written), *std::move(imported));
      });
}

}  // namespace ratchet
