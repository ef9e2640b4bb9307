#include <fmt/format.h>
#include <fmt/ranges.h>

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

  // An agent reads every hit: beyond the fifth they rarely decide anything.
  QueryArgs() { limit = 5; }

  static constexpr void fields(auto&& visit) {
    using A = QueryArgs;
    KnowledgeQuery::fields(visit);
    visit(
        optional<&A::run>("Rank for this run; the answer can be cited."),
        optional<&A::purpose>("What the query is for; evidence needs one query of each purpose."));
  }
};

std::string text_of(const QueryHit& hit) {
  std::string labels = hit.confidence;
  for (const auto& one :
       {hit.scope == "wiki" ? "" : hit.scope, hit.code ? "code " + *hit.code : std::string(),
        fmt::format("{}", fmt::join(hit.architectures, " "))})
    if (!one.empty()) labels += (labels.empty() ? "" : "; ") + one;
  return fmt::format("- {}: {} ({})\n  {}: {}\n{}{}", hit.id, hit.title, labels, hit.path, hit.why,
                     hit.snippet, hit.snippet.empty() || hit.snippet.ends_with('\n') ? "" : "\n");
}

struct QueryToolAnswer : QueryAnswer {
  /// How well it fits comes first. Digests, licenses and scores are only in the structure.
  [[nodiscard]] std::string text(Json answer) const {
    answer.erase("results");
    std::string text = readable_text(answer, {"weak", "relaxed", "query_id", "total", "note"});
    if (results.empty()) return text + "results: none\n";
    text += "results:\n";
    for (const auto& hit : results) {
      if (hit.origin.name.empty()) {
        text += text_of(hit);
        continue;
      }
      Json foreign = encode(hit);
      for (const char* dropped : {"content_digest", "license", "score"}) foreign.erase(dropped);
      text += readable_text(Json::array({std::move(foreign)}));
    }
    return text;
  }
};

}  // namespace

Tool query_kbs(const Services& services) {
  return make_tool<QueryArgs, QueryToolAnswer>(
      {.name = "query_kbs",
       .summary =
           "Search the knowledge base: hardware facts, bottleneck patterns, techniques, pull "
           "requests, code. With run and purpose the results can be cited.",
       .effect = Effect::reads,
       .toolset = Toolset::kbs,
       .always_load = true},
      [services](const QueryArgs& args, CallContext&) -> Result<QueryToolAnswer> {
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
        return QueryToolAnswer{*std::move(answer)};
      });
}

}  // namespace ratchet
