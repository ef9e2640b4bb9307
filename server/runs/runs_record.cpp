#include <fmt/format.h>

#include "server/core/hash.h"
#include "server/runs/permits.h"
#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"
#include "server/runs/runs.h"
#include "server/runs/views.h"

namespace ratchet {
namespace {

/// Refuses a measurement of another binary than the version's kernel.
Status check_binary(const VersionState& version, const std::string& measured) {
  const auto& build = version.build;
  if (build && build->candidate.build.binary_digest == measured) return {};
  return Error{
      ErrorCode::conflict,
      fmt::format(
          "binary {} was measured, but the kernel of {} is now binary {}; nothing was recorded",
          measured, version.id.text(), build ? build->candidate.build.binary_digest : "none"),
      "Call the tool again."};
}

/// Artifacts of the version that a new kernel invalidates. Methods and branches do not depend on
/// the version's kernel and stay.
std::vector<std::string> superseded(const RunState& state, VersionId id) {
  std::vector<std::string> paths;
  const std::string folder = id.text() + "/";
  for (const auto& [path, digest] : state.artifacts_in(id.text()))
    if (!path.starts_with(folder + "branches") && path != folder + "methods.json")
      paths.push_back(path);
  if (state.artifacts.contains(render::plan_path(id))) paths.push_back(render::plan_path(id));
  return paths;
}

}  // namespace

Status Runs::differs_from_parent(const Permit& permit, std::string_view source) {
  const bool python = is_python(permit.contract.implementation);
  if (!permit.parent || !same_but_for_names(permit.parent->source.text, source, python)) return {};
  return invalid_argument(
      "source: the kernel equals that of the parent version, except for comments, white space or "
      "names",
      "Nothing was built. Submit a kernel that computes in another way.");
}

std::string Runs::source_name(const Permit& permit, const std::string& submitted) {
  const auto implementation = permit.contract.implementation;
  // A Python module keeps its name over the versions.
  if (is_python(implementation)) return permit.contract.kernel.file_name;
  const bool fits = !submitted.empty() && has_fitting_suffix(submitted, implementation);
  return fits ? submitted : kernel_file_name(implementation);
}

Result<RunView> Runs::record_build(const Permit& permit, const Candidate& candidate,
                                   const std::optional<std::string>& note) {
  const auto held = still_valid(*store_, permit, Event::submitted);
  if (!held) return held.error();
  const RunState& state = *held->state;
  const auto implementation = state.contract.contract.implementation;
  const std::string kernel = kernel_file_name(implementation);
  if (!has_fitting_suffix(candidate.source.file_name, implementation))
    return invalid_argument(fmt::format("path: the file \"{}\" cannot be the kernel of a {} run",
                                        candidate.source.file_name, name_of(implementation)),
                            fmt::format("Submit a file such as {}.", kernel));

  BuildFact fact{candidate, sha256_hex(candidate.source.text),
                 sha256_hex(stripped_source(candidate.source.text, is_python(implementation))),
                 note};
  fact.candidate.source.text.clear();
  const bool ok = candidate.build.ok;
  // A failed build leaves the build.md of a kernel that the version already has.
  const bool writes = ok || state.open().stage == Stage::open;
  Change change{.version = permit.version,
                .kind = kind::kBuild,
                .fact = encode(fact),
                .event = ok ? Event::submitted : Event::build_failed,
                .blobs = {{fact.source_blob, candidate.source.text}}};
  if (ok) change.removed = superseded(state, permit.version);
  change.render = [&](const RunState& now, const std::string& time) {
    std::vector<render::Rendered> files;
    if (writes) files.push_back(render::build({now, now.open(), time}, fact));
    if (ok) files.push_back({permit.version.text() + "/" + kernel, candidate.source.text});
    return files;
  };
  return view_after(store_->commit(state, change));
}

Result<RunView> Runs::record_correctness(const Permit& permit, const CorrectnessReport& report) {
  const auto held = still_valid(*store_, permit, Event::checked);
  if (!held) return held.error();
  const RunState& state = *held->state;
  if (auto same = check_binary(state.open(), report.candidate_digest); !same) return same.error();
  return view_after(
      store_->commit(state, {.version = permit.version,
                             .kind = kind::kCorrectness,
                             .fact = encode(report),
                             .event = report.passed ? Event::checked : Event::check_failed,
                             .render = [](const RunState& now, const std::string& time) {
                               return std::vector{render::correctness({now, now.open(), time})};
                             }}));
}

Result<RunView> Runs::record_profile(const Permit& permit, const Profile& profile) {
  const auto held = still_valid(*store_, permit, Event::profiled);
  if (!held) return held.error();
  const RunState& state = *held->state;
  if (auto same = check_binary(state.open(), profile.candidate_digest); !same) return same.error();
  const bool invalid = profile.fault || profile.verdict == Verdict::invalid;
  return view_after(store_->commit(
      state, {.version = permit.version,
              .kind = kind::kProfile,
              .fact = encode(profile),
              .event = invalid ? Event::profile_invalid : Event::profiled,
              .render = [&](const RunState& now, const std::string& time) {
                const render::Subject subject{now, now.open(), time};
                auto files = render::profile(subject);
                files.push_back(render::analysis(subject));
                if (const auto& report = profile.report)
                  files.push_back({now.open().id.text() + "/" + report->name, report->content});
                return files;
              }}));
}

Result<ArtifactAnswer> Runs::record_benchmark(const Permit& permit, const BenchmarkReport& report) {
  const auto held = still_valid(*store_, permit, Event::benchmarked);
  if (!held) return held.error();
  const RunState& state = *held->state;
  const auto& version = *state.find(permit.version);
  if (auto same = check_binary(version, report.candidate_digest); !same) return same.error();
  const BenchmarkFact fact{report, state.open().stage == Stage::finished};
  return artifacts_after(
      store_->commit(state, {.version = permit.version,
                             .kind = kind::kBenchmark,
                             .fact = encode(fact),
                             .render =
                                 [&](const RunState& now, const std::string& time) {
                                   const auto& measured = *now.find(permit.version);
                                   return std::vector{
                                       render::benchmark({now, measured, time}, fact)};
                                 }}),
      {"benchmark.md"});
}

Result<ArtifactAnswer> Runs::record_sanitizer(const Permit& permit, const SanitizerReport& report) {
  const auto held = still_valid(*store_, permit, Event::sanitized);
  if (!held) return held.error();
  const RunState& state = *held->state;
  if (auto same = check_binary(state.open(), report.candidate_digest); !same) return same.error();
  return artifacts_after(
      store_->commit(state, {.version = permit.version,
                             .kind = kind::kSanitizer,
                             .fact = encode(report),
                             .render =
                                 [&](const RunState& now, const std::string& time) {
                                   return std::vector{
                                       render::sanitizer({now, now.open(), time}, report)};
                                 }}),
      {permit.version.text() + "/sanitizer.md"});
}

}  // namespace ratchet
