// Looking at a version without moving it: what an analysis may see, and the record of what it
// found.

#include "server/runs/records/analysis.h"

#include <fmt/format.h>

#include "server/runs/records/markdown.h"
#include "server/runs/render/render.h"
#include "server/runs/runs_impl.h"

namespace ratchet {
namespace {

Error no_version(const RunId& run, VersionId id) {
  return {ErrorCode::not_found, fmt::format("run {} has no {}", run.text, id.text()),
          "run_status lists the versions."};
}

Error not_built(VersionId id) {
  return {ErrorCode::wrong_stage, fmt::format("{} has no kernel yet", id.text()),
          "Call submit_kernel first, or name an earlier version."};
}

}  // namespace

Result<RunSubject> RunsImpl::subject(const RunId& run, std::optional<VersionId> version) {
  auto state = store_->load_intact(run);
  if (!state) return state.error();
  const VersionId id = version.value_or((*state)->open().id);
  const auto* const found = (*state)->find(id);
  if (found == nullptr) return no_version(run, id);
  if ((*state)->masked.contains(id)) return masked_version(id);
  if (!found->build) return not_built(id);
  auto contract = store_->contract(**state);
  if (!contract) return contract.error();
  auto candidate = store_->candidate(*found->build);
  if (!candidate) return candidate.error();
  RunSubject subject{run, id, *std::move(contract), *std::move(candidate), {}, found->profile};
  const auto* const parent = found->parent ? (*state)->find(*found->parent) : nullptr;
  const bool shown = parent != nullptr && parent->build && !(*state)->masked.contains(parent->id);
  if (!shown) return subject;
  auto parents = store_->candidate(*parent->build);
  if (!parents) return parents.error();
  subject.parent = *std::move(parents);
  return subject;
}

Result<ArtifactAnswer> RunsImpl::record_analysis(const RunSubject& subject,
                                                 const AnalysisFact& fact,
                                                 const std::vector<AnalysisFile>& files) {
  const auto lock = store_->lock(subject.run);
  if (!lock) return lock.error();
  auto state = store_->load_intact(subject.run);
  if (!state) return state.error();
  const auto* const version = (*state)->find(subject.version);
  if (version == nullptr) return no_version(subject.run, subject.version);
  if (!version->build || version->build->candidate.build.binary_digest != fact.candidate_digest)
    return Error{ErrorCode::conflict,
                 fmt::format("{} has another kernel by now", subject.version.text()),
                 "Nothing was recorded. Call the tool again."};
  Change change{subject.version, kind::kAnalysis, std::nullopt, encode(fact), {}, {}, {}};
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back(subject.version.text() + "/" + file.name);
  change.render = [&](const RunState& after, const std::string& time) {
    std::vector<render::Rendered> rendered;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!files[i].text.empty()) {
        rendered.push_back({paths[i], files[i].text});
        continue;
      }
      Json json = fact.result;
      json["provenance"] = render::provenance_json({after, *after.find(subject.version), time});
      rendered.push_back({paths[i], markdown::json_text(json, 2) + "\n"});
    }
    return rendered;
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return artifact_answer(**after, paths);
}

}  // namespace ratchet
