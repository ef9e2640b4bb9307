#include "server/demo/demo.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "server/core/figures.h"
#include "server/core/files.h"
#include "server/demo/client.h"
#include "server/demo/walkthrough.h"
#include "server/run_pages.h"
#include "server/terminal.h"

namespace ratchet::demo {
namespace {

namespace fs = std::filesystem;

constexpr int kIterations = 2;
constexpr const char* kProblem = "softmax";

/// Tells a person what happens: on stdout, unless a program reads the outcome there.
class Narrator {
 public:
  Narrator(bool aside, ProgressLine& progress) : aside_(aside), progress_(progress) {}
  void operator()(const std::string& line) const {
    progress_.clear();
    if (aside_)
      print_error(line + "\n");
    else
      print_text(line + "\n");
    std::fflush(stdout);
  }

 private:
  bool aside_;
  ProgressLine& progress_;
};

std::string seconds_since(std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return fmt::format("{:.2f} s", elapsed.count());
}

/// Drives one run. An unexpected error ends the demo with its text.
class Player {
 public:
  Player(Client client, const DemoOptions& options, const Narrator& say)
      : client_(std::move(client)), options_(options), say_(say) {}

  Status play() {
    auto status = create();
    if (!status) return status;
    auto steps = load_walkthrough(options_.data_dir / "problems" / kProblem, implementation_);
    if (!steps) return steps.error();
    for (std::size_t i = 0; i < steps->size(); ++i) {
      status = version(steps->at(i), i, i + 1 < steps->size() ? &steps->at(i + 1) : nullptr);
      if (!status) return status;
    }
    return finish();
  }

  [[nodiscard]] bool refused() const { return refused_; }
  /// What run_status answered at the end.
  [[nodiscard]] const Json& status() const { return status_; }

 private:
  /// Calls a tool and prints how long it took. Errors: any error of the tool.
  Result<Json> must(const std::string& tool, const Json& arguments) {
    const auto start = std::chrono::steady_clock::now();
    auto reply = client_.call(tool, arguments);
    if (!reply) return reply.error();
    if (reply->is_error) return Error{ErrorCode::internal, tool + " failed: " + reply->text};
    say_(fmt::format("  {:<20} {:>8}", tool, seconds_since(start)));
    return reply->structured;
  }

  Status create() {
    Json arguments{{"problem", kProblem},
                   {"iterations", kIterations},
                   {"output_dir", options_.output_dir.string()}};
    if (!options_.implementation.empty()) arguments["implementation"] = options_.implementation;
    if (!options_.lab.empty()) arguments["lab"] = options_.lab;
    auto created = must("create_run", arguments);
    if (!created) return created.error();
    run_ = created->at("run");
    implementation_ = created->at("implementation");
    say_(fmt::format("    run {} on {} ({})", run_, created->at("device").get<std::string>(),
                     implementation_));
    for (const auto& warning : created->at("warnings"))
      say_("    warning: " + warning.at("message").get<std::string>());
    return {};
  }

  Status version(const Step& step, std::size_t number, const Step* next) {
    say_(fmt::format("v{}", number));
    auto status = measure(number);
    if (status && number == 1 && next) status = try_to_skip(step);
    if (status) status = decide(step);
    return status;
  }

  Status measure(std::size_t number) {
    auto checked = must("check_correctness", {{"run", run_}});
    if (!checked) return checked.error();
    if (!checked->at("passed").get<bool>())
      return Error{ErrorCode::internal,
                   fmt::format("v{} is not correct: {}", number, checked->at("reasons").dump())};
    say_(fmt::format("    correct on {} cases × seeds × distributions",
                     checked->at("cases").size()));
    auto profile = must("profile_kernel", {{"run", run_}, {"verify", true}});
    if (!profile) return profile.error();
    const Json& timing = profile->at("timing");
    say_(fmt::format("    {} [{} .. {}], {}, bound: {}{}", time_text(timing.at("median_ns")),
                     time_text(timing.at("ci_low_ns")), time_text(timing.at("ci_high_ns")),
                     timing.at("verdict").get<std::string>(),
                     profile->at("bound").get<std::string>(),
                     profile->at("degraded").get<bool>() ? " (no hardware counters)" : ""));
    for (const auto& finding : profile->at("findings"))
      if (finding.value("outcome", "") == "confirmed")
        say_(fmt::format("    confirmed: {}: {}", finding.at("title").get<std::string>(),
                         finding.value("intervention", "")));
    return {};
  }

  /// The forbidden step: v2 before v1 has passed its gate.
  Status try_to_skip(const Step& step) {
    auto source = source_of(step);
    if (!source) return source.error();
    auto reply =
        client_.call("submit_kernel", {{"run", run_}, {"version", "v2"}, {"source", *source}});
    if (!reply) return reply.error();
    if (!reply->is_error) return Error{ErrorCode::internal, "submitting v2 early was not refused"};
    refused_ = true;
    say_("  submit_kernel v2 now? The server refuses:");
    say_("    " + reply->text);
    return {};
  }

  Status decide(const Step& step) {
    std::vector<Json> selected;
    for (const auto& [purpose, query] :
         {std::pair{"kernel", step.kernel_query}, std::pair{"bottleneck", step.bottleneck_query}}) {
      auto answer =
          must("query_kbs", {{"run", run_}, {"purpose", purpose}, {"query", query}, {"limit", 5}});
      if (!answer) return answer.error();
      if (answer->at("results").empty())
        return Error{ErrorCode::internal, "query_kbs found nothing for: " + query};
      const Json& hit = answer->at("results").at(0);
      say_(fmt::format("    “{}” → {}", query, hit.at("id").get<std::string>()));
      if (!selected.empty() && selected[0].at("id") == hit.at("id")) continue;
      selected.push_back({{"id", hit.at("id")},
                          {"query_id", answer->at("query_id")},
                          {"applies_because", step.applies_because}});
    }
    auto evidence = must("write_kbs_evidence", {{"run", run_},
                                                {"facts", {"median_ns", "achieved_bytes_per_s"}},
                                                {"selected", selected},
                                                {"decision_link", step.decision_link}});
    if (!evidence) return evidence.error();
    if (!step.hypothesis) return {};
    return advance(step, selected);
  }

  Status advance(const Step& step, const std::vector<Json>& selected) {
    Json hypothesis = *step.hypothesis;
    hypothesis["run"] = run_;
    hypothesis["evidence"] = Json::array();
    for (const auto& entry : selected) hypothesis["evidence"].push_back(entry.at("id"));
    auto written = must("write_hypothesis", hypothesis);
    if (!written) return written.error();
    say_("    hypothesis: " + hypothesis.at("change").get<std::string>());
    auto gate = pass_gate({{"run", run_}});
    if (!gate) return gate;
    auto source = source_of(step);
    if (!source) return source.error();
    auto submitted = must("submit_kernel", {{"run", run_}, {"source", *source}});
    if (!submitted) return submitted.error();
    const Json& build = submitted->at("build");
    if (!build.at("ok").get<bool>())
      return Error{ErrorCode::internal, "the next version does not build: " + build.dump(2)};
    return {};
  }

  Status pass_gate(const Json& arguments) {
    auto gate = must("check_gate", arguments);
    if (!gate) return gate.error();
    if (gate->at("passed").get<bool>()) return {};
    return Error{ErrorCode::internal, "the gate did not open: " + gate->at("reasons").dump(2)};
  }

  [[nodiscard]] Result<std::string> source_of(const Step& step) const {
    return read_file(options_.data_dir / "problems" / kProblem / *step.next_file);
  }

  Status finish() {
    say_("final");
    auto gate = pass_gate({{"run", run_}, {"final", true}});
    if (!gate) return gate;
    auto bench = must("benchmark", {{"run", run_}});
    if (!bench) return bench.error();
    auto report =
        must("write_report", {{"run", run_}, {"retrospective", "Written by ratchet demo."}});
    if (!report) return report.error();
    auto status = must("run_status", {{"run", run_}});
    if (!status) return status.error();
    status_ = *status;
    say_("\n" + versions_table(*status));
    for (const auto& artifact : report->at("artifacts"))
      if (artifact.get<std::string>().ends_with("final_report.md"))
        say_("\nReport: " + artifact.get<std::string>());
    return {};
  }

  Client client_;
  DemoOptions options_;
  Narrator say_;
  Json status_;
  std::string run_;
  std::string implementation_;
  bool refused_ = false;
};

fs::path fresh_folder() {
  std::string name = (fs::temp_directory_path() / "ratchet-demo-XXXXXX").string();
  return ::mkdtemp(name.data()) ? fs::path(name) : fs::path("ratchet-demo");
}

int fail(const Error& error) {
  print_error("ratchet demo: " + error.message + (error.hint.empty() ? "" : "\n" + error.hint));
  return 1;
}

}  // namespace

int play(const DemoOptions& options) {
  DemoOptions used = options;
  if (used.output_dir.empty()) used.output_dir = fresh_folder();
  ProgressLine progress;
  const Narrator say(options.json, progress);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> server{options.program.string(),
                                  "serve",
                                  "--state-dir",
                                  options.state_dir.string(),
                                  "--data-dir",
                                  options.data_dir.string(),
                                  "--python",
                                  options.python};
  for (const auto& lab : options.labs) server.insert(server.end(), {"--lab", lab});
  for (const auto& file : options.labs_files)
    server.insert(server.end(), {"--labs", file.string()});
  auto client = Client::start(
      server, [&progress](double done, std::optional<double> total, const std::string& message) {
        progress.show(done, total, message);
      });
  if (!client) return fail(client.error());
  say(fmt::format("Connected to {} over stdio.", client->server_name()));
  Player player(*std::move(client), used, say);
  const auto status = player.play();
  if (!status) return fail(status.error());
  say(fmt::format("\nThe whole run took {}.", seconds_since(start)));
  if (options.json) fmt::print("{}\n", player.status().dump(2));
  return player.refused() ? 0 : 1;
}

}  // namespace ratchet::demo
