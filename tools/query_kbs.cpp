#include "tools/all.h"

namespace ratchet {
namespace {

enum class Purpose { kernel, bottleneck };
constexpr auto enum_names(Purpose) {
  return std::array{std::pair{Purpose::kernel, "kernel"},
                    std::pair{Purpose::bottleneck, "bottleneck"}};
}

using Filter = OneOrMany<std::string>;

struct QueryArgs : KnowledgeQuery {
  Filter scope, kind, repo, tag, architecture, language, symptom, confidence;
  std::optional<RunId> run;
  std::optional<Purpose> purpose;

  static constexpr auto fields() {
    using A = QueryArgs;
    return std::tuple_cat(
        KnowledgeQuery::fields(),
        std::tuple{optional("scope", &A::scope,
                            "wiki, docs, blogs, contests, prs, diffs, snapshots, sources."),
                   optional("kind", &A::kind, "Page kind, e.g. pattern."),
                   optional("repo", &A::repo, "owner/name."), optional("tag", &A::tag, "Tag."),
                   optional("architecture", &A::architecture, "sm90, H200, …"),
                   optional("language", &A::language, "cuda-cpp, triton, …"),
                   optional("symptom", &A::symptom, "Symptom."),
                   optional("confidence", &A::confidence, "verified, source-reported, …"),
                   optional("run", &A::run, "Log the query in this run, so that it can be cited."),
                   optional("purpose", &A::purpose,
                            "What a cited query was for; evidence needs one of each.")});
  }

  [[nodiscard]] KnowledgeQuery with_filters() const {
    KnowledgeQuery query = *this;
    query.scopes = scope.values;
    query.kinds = kind.values;
    query.repos = repo.values;
    query.tags = tag.values;
    query.architectures = architecture.values;
    query.languages = language.values;
    query.symptoms = symptom.values;
    query.confidences = confidence.values;
    return query;
  }
};

}  // namespace

Tool query_kbs(const Services& services) {
  return make_tool<QueryArgs, QueryAnswer>(
      {.name = "query_kbs",
       .summary = "Search kernel optimisation knowledge (hardware facts, bottleneck patterns, "
                  "techniques, pull requests); give run and purpose to make results citable.",
       .effect = Effect::reads,
       .toolset = Toolset::kbs,
       .always_load = true},
      [services](const QueryArgs& args, CallContext&) -> Result<QueryAnswer> {
        auto answer = services.knowledge.query(args.with_filters());
        if (!answer) return answer.error();
        if (args.run) {
          const std::string purpose(args.purpose ? name_of(*args.purpose) : "");
          auto logged = services.runs.record_query(*args.run, args.text, purpose, *answer);
          if (!logged) return logged.error();
        }
        return answer;
      });
}

}  // namespace ratchet
