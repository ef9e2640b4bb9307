#include <fmt/format.h>

#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

Json point_of(const VariantPoint& point, const Contract& contract) {
  Json json{{"shape", encode(point.dims)},
            {"variant", point.variant},
            {"correct", point.correct},
            {"reasons", encode(point.reasons)}};
  Json types = Json::object();
  for (const auto& tensor : contract.tensors) types[tensor.name] = encode(tensor.dtype);
  json["dtype"] = std::move(types);
  if (point.timing) json["timing"] = encode(*point.timing);
  if (point.comparison) json["against_fallback"] = encode(*point.comparison);
  return json;
}

std::string speedup(const std::optional<Comparison>& compared) {
  if (!compared) return "-";
  return fmt::format("{}, {}", speedup_text(*compared), name_of(compared->verdict));
}

std::string decisions(const DispatchFact& fact) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& route : fact.routes)
    rows.push_back(
        {markdown::dims_text(route.dims), route.variant, route.why, speedup(route.dispatched)});
  return markdown::table({"Case", "Variant", "Why", "Dispatcher against the fallback"}, rows);
}

}  // namespace

std::vector<Rendered> dispatch(const RunState& state, const std::string& time) {
  const auto& fact = *state.dispatch;
  const auto& contract = state.contract.contract;
  Json points = Json::array();
  for (const auto& point : fact.points) points.push_back(point_of(point, contract));
  Json routes = Json::array();
  for (const auto& route : fact.routes) routes.push_back(encode(route));
  const Json map{{"run", state.run.text},
                 {"contract_sha256", state.contract.contract_digest},
                 {"device", device_text(state)},
                 {"tools", tools_text(state, state.versions.front())},
                 {"time", time},
                 {"variants", fact.variants},
                 {"fallback", fact.fallback},
                 {"points", std::move(points)},
                 {"routes", std::move(routes)},
                 {"verdict", fact.verdict}};
  return {{"benchmarks/performance-map.json", markdown::json_text(map, 2) + "\n"},
          {"ledgers/tuning-decisions.md",
           fmt::format(
               "# Tuning Decisions\n\n{}\n## Routes\n\n{}\n## Verdict\n\n{}\n\n{}\n"
               "## Sizes outside W\n\nThe route of the nearest case, by the sum of the "
               "distances of the dims' logarithms. Every variant passed the check on all "
               "cases, hidden ones included.\n",
               markdown::bullets({{"Run", state.run.text},
                                  {"Device", device_text(state)},
                                  {"Variants", fmt::format("{}", fmt::join(fact.variants, ", "))},
                                  {"Fallback", fact.fallback},
                                  {"Time", time}}),
               decisions(fact), fact.verdict, markdown::reasons(fact.reasons, ""))}};
}

}  // namespace ratchet::render
