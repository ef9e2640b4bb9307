#include "kernels/formats/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "kernels/process/worker_process.h"
#include "server/core/beneath.h"
#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/origin.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWayOn =
    "docs/problems.md says what each format needs; with another kernel and reference, call "
    "create_run with those instead.";

constexpr std::size_t kMostStack = std::size_t{64} << 10U;

/// What python/problems.py answers.
struct Read {
  std::string format;
  std::string digest;
  std::int64_t bytes = 0;
  Json problem;
  std::map<std::string, std::string> files;
  std::vector<std::string> left_out;  ///< the suite's own times that are none, and why

  static constexpr void fields(auto&& visit) {
    visit(required<&Read::format>(), required<&Read::digest>(), required<&Read::bytes>(),
          required<&Read::problem>(), required<&Read::files>(), optional<&Read::left_out>());
  }
};

Error refused(const ProblemImport& asked, const std::string& why) {
  return invalid_argument(fmt::format("{}: not imported: {}", asked.name, behind_fence(why)),
                          std::string(kWayOn));
}

/// "reference.py:12: ", the innermost line of the suite's own files on the stack that problems.py
/// left in its folder; empty where there is none.
std::string place_on_stack(const fs::path& folder) {
  constexpr std::string_view kFile = "  File \"";
  constexpr std::string_view kLine = "\", line ";
  const auto opened = Folder::open(folder);
  const auto stack = opened ? opened->read("stack", kMostStack) : Result<std::string>("");
  std::istringstream lines(stack ? *stack : "");
  for (std::string line; std::getline(lines, line);) {
    const auto end = line.find(kLine);
    if (!line.starts_with(kFile) || end == std::string::npos) continue;
    const auto name = line.substr(kFile.size(), end - kFile.size());
    if (name.starts_with('/') || name.starts_with('<')) continue;  // a library's
    const auto number = line.substr(end + kLine.size());
    return fmt::format("{}:{}: ", name, number.substr(0, number.find(' ')));
  }
  return "";
}

Result<Read> read_by_suite(PythonForkServer& python, const ProblemImport& asked,
                           std::chrono::milliseconds deadline, const CallContext& call) {
  auto process = WorkerProcess::start(python.server_spec("problems", "import torch"), call);
  if (!process) return process.error();
  const Json question{{"import",
                       {{"files", asked.files},
                        {"format", asked.format},
                        {"bytes", asked.most_bytes},
                        {"place", asked.place},
                        {"seconds", std::chrono::duration<double>(deadline).count()},
                        {"figures", asked.figures},
                        {"recorded", asked.recorded},
                        {"unread", asked.unread},
                        {"scale", asked.scale ? "" : "none"}}}};
  auto answer = process->ask(question, {}, deadline, call);
  if (!answer) return answer.error();
  if (answer->fault) {
    const auto place = place_on_stack(process->folder());
    if (answer->fault->kind == "timeout")
      return refused(asked, fmt::format("{}its Python {}; --job-deadline sets the limit of {} s",
                                        place, answer->fault->message, deadline.count() / 1000));
    return refused(asked, fmt::format("{}its Python ended the process that read it: {}: {}", place,
                                      answer->fault->kind, answer->fault->message));
  }
  if (const auto failure = answer->body.find("failed"); failure != answer->body.end())
    return refused(asked, failure->value("message", ""));
  return decode_stored<Read>(answer->body);
}

/// New, or empty.
Status usable(const fs::path& folder) {
  std::error_code failed;
  if (!fs::exists(folder, failed) || fs::is_empty(folder, failed)) return {};
  return Error{ErrorCode::not_permitted,
               fmt::format("output_dir: {} exists and is not empty", folder.string()),
               "Name a new folder."};
}

/// Removes the half of a folder that a failure left.
class Unfinished {
 public:
  explicit Unfinished(fs::path folder) : folder_(std::move(folder)) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    std::error_code none;
    fs::remove_all(folder_, none);
  }

 private:
  fs::path folder_;
};

Status write_whole(const fs::path& folder, const std::map<std::string, std::string>& files) {
  const fs::path part = folder.string() + ".part";
  const Unfinished unfinished(part);
  std::error_code failed;
  fs::remove_all(part, failed);  // of an import that was killed
  for (const auto& [name, text] : files) {
    if (fs::path(name).filename() != fs::path(name))
      return invalid_argument(fmt::format("{}: not a file name", name));
    if (auto written = write_file(part / name, text); !written) return written;
  }
  fs::rename(part, folder, failed);
  if (failed) return unavailable(fmt::format("{}: {}", folder.string(), failed.message()));
  return {};
}

}  // namespace

Result<ImportedProblem> import_problem(PythonForkServer& python, const ProblemImport& asked,
                                       std::chrono::milliseconds deadline,
                                       const CallContext& call) {
  if (auto empty = usable(asked.folder); !empty) return empty.error();
  auto read = read_by_suite(python, asked, deadline, call);
  if (!read) return read.error();
  read->problem["provenance"] = {{"suite", read->format},
                                 {"file", asked.name},
                                 {"digest", read->digest},
                                 {"license", asked.license}};
  const auto file = decode<ProblemFile>(read->problem);
  if (!file) return refused(asked, file.error().message);
  read->files["problem.json"] = read->problem.dump(1) + "\n";
  if (auto written = write_whole(asked.folder, read->files); !written) return written.error();
  ImportedProblem made{.folder = asked.folder,
                       .format = read->format,
                       .title = file->title,
                       .call = std::string(name_of(file->task.call.value_or(CallStyle::solve))),
                       .cases = std::max(1, static_cast<int>(file->task.cases.size())),
                       .tensors = static_cast<int>(file->task.tensors.size()),
                       .bytes = read->bytes,
                       .kernel = read->files.contains("v0.py"),
                       .differences = file->changed};
  for (const auto& one : file->scaled)
    made.differences.push_back(
        fmt::format("{}: {} instead of {} ({})", one.dim, one.to, one.from, one.rule));
  if (!file->suite_baselines.empty())
    made.differences.push_back(
        fmt::format("suite_baselines: times of the suite's own: {}; benchmark shows them as theirs "
                    "and compares nothing with them",
                    file->suite_baselines.size()));
  for (const auto& line : asked.left_out) made.differences.push_back(line);
  for (const auto& line : read->left_out) made.differences.push_back(behind_fence(line));
  return made;
}

}  // namespace ratchet
