#include "server/problem_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/facts/problem_import.h"
#include "server/terminal.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "problem.json";
constexpr std::size_t kSecretBytes = 32;

Result<Json> read_json(const fs::path& folder) {
  const auto text = read_file(folder / kFile);
  if (!text) return text.error();
  auto json = Json::parse(*text, nullptr, false);
  if (!json.is_object())
    return invalid_argument(fmt::format("{}: not a JSON object", (folder / kFile).string()));
  return json;
}

/// A shipped problem's folder, or the given one.
Result<fs::path> folder_of(const Options& options, const std::string& name) {
  std::error_code failed;
  const auto shipped = options.data_dir / "problems" / name;
  if (name.find('/') == std::string::npos && fs::exists(shipped / kFile, failed)) return shipped;
  auto folder = fs::canonical(name, failed);
  if (!failed && fs::exists(folder / kFile, failed)) return folder;
  return not_found(fmt::format("{}: neither a shipped problem nor a folder with a {}", name, kFile),
                   "`ratchet problem list` lists the shipped ones and those in this folder.");
}

Json listed(const Lab& lab, const Options& options) {
  Json list = Json::array();
  const auto add = [&](const std::string& name, const fs::path& folder) {
    if (const auto json = read_json(folder))
      list.push_back({{"problem", name}, {"title", json->value("title", "")}});
  };
  for (const auto& name : lab.problem_names()) add(name, options.data_dir / "problems" / name);
  std::error_code failed;
  std::vector<std::string> here;
  for (const auto& entry : fs::directory_iterator(".", failed))
    if (fs::exists(entry.path() / kFile, failed)) here.push_back(entry.path().filename().string());
  std::ranges::sort(here);
  for (const auto& name : here) add("./" + name, name);
  return {{"problems", std::move(list)}};
}

Result<ProblemReport> checked(Lab& lab, const std::string& name, const Options& options,
                              CallContext& call) {
  const auto folder = folder_of(options, name);
  if (!folder) return folder.error();
  const bool shipped = folder->parent_path() == options.data_dir / "problems";
  auto problem = lab.problem(shipped ? name : folder->string(), {}, nullptr);
  if (!problem) return problem.error();
  if (!problem->kernel)
    return invalid_argument(fmt::format("{} brings no kernel to check it with", name),
                            "Call create_run with the problem and a `kernel`.");
  auto contract = lab.plan(problem->task, *problem->kernel, problem->reference);
  if (!contract) return contract.error();
  auto prepared = lab.prepare(*contract, call);
  if (!prepared) return prepared.error();
  const auto secret = random_bytes(kSecretBytes);
  auto weak = lab.validate_task(*contract, secret, call);
  if (!weak) return weak.error();
  if (auto decided = lab.decide_sizes(*contract, &prepared->kernel, secret, *weak, call); !decided)
    return decided.error();
  auto report = lab.check(*contract, prepared->kernel, secret, call);
  if (!report) return report.error();
  return ProblemReport{{{"problem", name},
                        {"device", contract->device_name},
                        {"passed", report->passed},
                        {"warnings", encode(*weak)},
                        {"reasons", encode(report->reasons)}},
                       report->passed};
}

}  // namespace

Json import_arguments(const Options& options) {
  fs::path name(options.problem.substr(0, options.problem.find_last_not_of('/') + 1));
  std::error_code failed;
  if (marks_problem(name)) name = fs::absolute(name, failed).parent_path();
  Json arguments{
      {"path", options.problem},
      {"output_dir", options.output_dir.empty() ? (fs::path("problems") / name.stem()).string()
                                                : options.output_dir.string()}};
  if (!options.problem_format.empty()) arguments["format"] = options.problem_format;
  if (!options.problem_scale.empty()) arguments["scale"] = options.problem_scale;
  return arguments;
}

Result<ProblemReport> run_problem_command(Lab& lab, const Options& options,
                                          const std::stop_token& stop) {
  if (options.problem_action == "list") return ProblemReport{listed(lab, options)};
  if (options.problem_action == "show") {
    const auto folder = folder_of(options, options.problem);
    if (!folder) return folder.error();
    auto json = read_json(*folder);
    if (!json) return json.error();
    return ProblemReport{*std::move(json)};
  }
  ProgressLine line;
  CallContext call([&line](double done, std::optional<double> total,
                           std::string_view message) { line.show(done, total, message); },
                   stop);
  return checked(lab, options.problem, options, call);
}

}  // namespace ratchet
