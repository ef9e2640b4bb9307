// Analyses of a version that do not change its stage.

#include "server/runs/records/analysis.h"

#include <fmt/format.h>

#include "server/runs/permits.h"
#include "server/runs/records/markdown.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/guidance.h"
#include "server/runs/runs.h"
#include "server/runs/views.h"

namespace ratchet {

Result<RunSubject> Runs::subject(const RunId& run, std::optional<VersionId> version) {
  auto state = store_->load_intact(run);
  if (!state) return state.error();
  const VersionId id = version.value_or((*state)->open().id);
  const auto* const found = (*state)->find(id);
  if (found == nullptr) return no_version(run, id);
  if ((*state)->masked.contains(id)) return masked_version(id);
  if (!found->build)
    return out_of_order(**state,
                        fmt::format("{} of run {} has no kernel yet", id.text(), run.text));
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

Result<ArtifactAnswer> Runs::record_analysis(const RunSubject& subject, const AnalysisFact& fact,
                                             const std::vector<AnalysisFile>& files) {
  const auto held = hold(*store_, subject.run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  const auto* const version = state.find(subject.version);
  if (version == nullptr) return no_version(subject.run, subject.version);
  if (!version->build || version->build->candidate.build.binary_digest != fact.candidate_digest)
    return Error{ErrorCode::conflict,
                 fmt::format("the kernel of {} was replaced while this call was working",
                             subject.version.text()),
                 "Nothing was recorded. Call the tool again."};
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back(subject.version.text() + "/" + file.name);
  const auto render = [&](const RunState& now, const std::string& time) {
    std::vector<render::Rendered> rendered;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!files[i].text.empty()) {
        rendered.push_back({paths[i], files[i].text});
        continue;
      }
      Json json = fact.result;
      json["provenance"] = render::provenance_json({now, *now.find(subject.version), time});
      rendered.push_back({paths[i], markdown::json_text(json, 2) + "\n"});
    }
    return rendered;
  };
  return artifacts_after(store_->commit(state, {.version = subject.version,
                                                .kind = kind::kAnalysis,
                                                .fact = encode(fact),
                                                .render = render}),
                         paths);
}

}  // namespace ratchet
