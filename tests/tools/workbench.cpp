#include "tests/support/workbench.h"
#include "tests/support/places.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;

template <class T>
std::unique_ptr<T> opened(Result<std::unique_ptr<T>> result) {
  if (!result) FAIL(result.error().message);
  return *std::move(result);
}

}  // namespace

Workbench::Workbench() {
  const fs::path build = build_dir();
  const fs::path data = build / "share" / "ratchet";
  lab_ = opened(Lab::open({.state_dir = folder_ / "state",
                           .worker_dir = build / "bin",
                           .data_dir = data,
                           .noise_sessions = 0}));
  runs_ = opened(Runs::open(folder_ / "state"));
  knowledge_ = opened(Knowledge::open({.builtin_index = data / "kbs" / "builtin.db",
                                       .user_index = folder_ / "state" / "kbs" / "index.db"}));
  auto roots = Roots::open({.roots = {folder_.path()}, .state = folder_ / "state", .data = data});
  REQUIRE(roots);
  roots_ = std::make_unique<Roots>(*std::move(roots));
  storage_ = std::make_unique<Storage>(folder_ / "state", 0,
                                       lab_->stores([] { return std::set<std::string>{}; }),
                                       [](bool) { return FileCount{}; });
  tools_ = all_tools(services());
}

ToolAnswer Workbench::call(const std::string& tool, const Json& arguments) {
  const auto found = std::ranges::find(tools_, tool, [](const Tool& t) { return t.info.name; });
  REQUIRE(found != tools_.end());
  CallContext context;
  ToolAnswer answer = found->call(arguments, context);
  if (const auto job = answer.job; job && !arguments.contains("wait_s")) {
    job->wait(context, std::chrono::steady_clock::time_point::max());
    answer = job->answer().value_or(answer);
  }
  return answer;
}

Json Workbench::must(const std::string& tool, const Json& arguments) {
  const auto answer = call(tool, arguments);
  INFO(tool << ": " << answer.text);
  REQUIRE_FALSE(answer.is_error);
  return answer.structured;
}

std::string Workbench::start_run(const Json& more) {
  Json arguments{{"problem", "vector_add"},
                 {"implementation", "host-cpp"},
                 {"dims", {{"n", 4096}}},
                 {"iterations", 1},
                 {"output_dir", (folder_ / "out").string()}};
  arguments.update(more);
  return must("create_run", arguments).at("run");
}

std::string Workbench::measure_and_cite(const std::string& run) {
  const Json checked = must("check_correctness", {{"run", run}});
  INFO(checked.dump(2));
  REQUIRE(checked.at("passed").get<bool>());
  must("profile_kernel", {{"run", run}});
  Json selected = Json::array();
  for (const char* purpose : {"kernel", "bottleneck"}) {
    const Json answer = must("query_kbs", {{"run", run},
                                           {"purpose", purpose},
                                           {"query", "memory bandwidth bound vectorized access"}});
    selected.push_back({{"id", answer.at("results").at(0).at("id")},
                        {"query_id", answer.at("query_id")},
                        {"applies_because", "streams two inputs and one output"}});
  }
  must("write_kbs_evidence", {{"run", run},
                              {"facts", {"median_ns"}},
                              {"selected", {selected[0]}},
                              {"decision_link", "bandwidth bound → wider accesses"}});
  return selected[0].at("id");
}

void Workbench::pass(const std::string& run, const std::string& change) {
  const std::string cited = measure_and_cite(run);
  must("write_hypothesis", {{"run", run},
                            {"category", "memory"},
                            {"change", change},
                            {"rationale", "fewer instructions per byte"},
                            {"expected", {{{"metric", "median_ns"}, {"direction", "down"}}}},
                            {"risk", "none for correctness"},
                            {"evidence", {cited}},
                            {"accept_if", "faster"},
                            {"reject_if", "slower"}});
  const Json gate = must("check_gate", {{"run", run}});
  INFO(gate.dump(2));
  REQUIRE(gate.at("passed").get<bool>());
}

std::string good_kernel(const std::string& index) {
  return "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {\n  for (int " +
         index + " = 0; " + index + " < n; ++" + index + ") c[" + index + "] = a[" + index +
         "] + b[" + index + "];\n}\n";
}

}  // namespace ratchet::test
