#include "kbs/knowledge.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

enum class Purpose { kernel, bottleneck };
constexpr auto enum_names(Purpose) {
  return as_written<Purpose::kernel, Purpose::bottleneck>();
}

struct QueryArgs : KnowledgeQuery {
  std::optional<RunId> run;
  std::optional<Purpose> purpose;

  static constexpr void fields(auto&& visit) {
    using A = QueryArgs;
    KnowledgeQuery::fields(visit);
    visit(
        optional<&A::run>(
            "Rank for this run's device and diagnosis, and log the query so that it can be cited."),
        optional<&A::purpose>("What the query is for; evidence needs one query of each purpose."));
  }
};

}  // namespace

Tool query_kbs(const Services& services) {
  return make_tool<QueryArgs, QueryAnswer>(
      {.name = "query_kbs",
       .summary =
           "Search knowledge about kernel optimization (hardware facts, bottleneck patterns, "
           "techniques, pull requests and their code); give run and purpose to make results "
           "citable.",
       .effect = Effect::reads,
       .toolset = Toolset::kbs,
       .always_load = true},
      [services](const QueryArgs& args, CallContext&) -> Result<QueryAnswer> {
        auto query = static_cast<const KnowledgeQuery&>(args);
        if (args.run) {
          auto situation = services.runs.query_situation(*args.run);
          if (!situation) return situation.error();
          query.situation = *std::move(situation);
        }
        auto answer = services.knowledge.query(query);
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
