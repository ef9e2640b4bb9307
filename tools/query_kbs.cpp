#include "tools/all.h"

namespace ratchet {
namespace {

enum class Purpose { kernel, bottleneck };
constexpr auto enum_names(Purpose) {
  return std::array{std::pair{Purpose::kernel, "kernel"},
                    std::pair{Purpose::bottleneck, "bottleneck"}};
}

using Filter = OneOrMany<std::string>;

struct QueryArgs {
  std::string query;
  Filter scope, kind, repo, tag, architecture, language, symptom, confidence;
  std::optional<bool> has_code;
  int limit = 10;
  std::optional<std::string> cursor;
  std::optional<RunId> run;
  std::optional<Purpose> purpose;

  static constexpr auto fields() {
    using A = QueryArgs;
    return std::tuple{
        required("query", &A::query, "Words, identifiers or a question.", {.max_length = 1048576}),
        optional("scope", &A::scope,
                 "wiki, docs, blogs, contests, prs, diffs, snapshots, sources."),
        optional("kind", &A::kind, "Page kind, e.g. pattern."),
        optional("repo", &A::repo, "owner/name."),
        optional("tag", &A::tag, "Tag."),
        optional("architecture", &A::architecture, "sm90, H200, …"),
        optional("language", &A::language, "cuda-cpp, triton, …"),
        optional("symptom", &A::symptom, "Symptom."),
        optional("confidence", &A::confidence, "verified, source-reported, …"),
        optional("has_code", &A::has_code, "Only pages with code."),
        optional("limit", &A::limit, "Most results.", {.min = 1, .max = 50}),
        optional("cursor", &A::cursor, "next_cursor of the page before.", {.max_length = 200}),
        optional("run", &A::run, "Log the query in this run, so that it can be cited."),
        optional("purpose", &A::purpose,
                 "What a cited query was for; evidence needs one of each.")};
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
        auto answer = services.knowledge.query({.text = args.query,
                                                .scopes = args.scope.values,
                                                .kinds = args.kind.values,
                                                .repos = args.repo.values,
                                                .tags = args.tag.values,
                                                .architectures = args.architecture.values,
                                                .languages = args.language.values,
                                                .symptoms = args.symptom.values,
                                                .confidences = args.confidence.values,
                                                .has_code = args.has_code,
                                                .limit = args.limit,
                                                .cursor = args.cursor});
        if (!answer) return answer.error();
        if (args.run) {
          const std::string purpose(args.purpose ? name_of(*args.purpose) : "");
          auto logged = services.runs.record_query(*args.run, args.query, purpose, *answer);
          if (!logged) return logged.error();
        }
        return answer;
      });
}

}  // namespace ratchet
