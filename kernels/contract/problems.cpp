#include "kernels/contract/problems.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "kernels/build/target.h"
#include "server/core/fields.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kVariants{"naive", "better", "best"};

constexpr const char* kFirstVersion = "v0.py";

Result<fs::path> folder_of(const fs::path& data_dir, const std::string& name) {
  if (fs::path(name).is_absolute()) return fs::path(name);
  const auto names = problem_names(data_dir);
  if (std::ranges::find(names, name) != names.end()) return data_dir / "problems" / name;
  return not_found(fmt::format("no problem named \"{}\"", name),
                   fmt::format("Shipped problems: {}. Of an imported one, give the folder.",
                               fmt::join(names, ", ")));
}

/// The folder and file suffix of an implementation's kernels.
std::pair<std::string, std::string> place_of(Implementation implementation) {
  if (is_python(implementation)) return {std::string(name_of(implementation)), ".py"};
  return {std::string(name_of(implementation)), is_host(implementation) ? ".cpp" : ".cu"};
}

struct ReferenceFile {
  std::string_view name;  ///< in a run
  std::string_view file;  ///< in the problem's folder
};

/// The reference on the kernel's device, so that no data is copied for comparing.
ReferenceFile reference_of(Implementation implementation) {
  if (!is_python(implementation))
    return is_host(implementation) ? ReferenceFile{"reference.cpp", "reference.cpp"}
                                   : ReferenceFile{"ref.cu", "ref.cu"};
  return {"ref.py", is_host(implementation) ? "ref.py" : "ref_torch.py"};
}

void adopt_sizes(const std::optional<ProblemDevice>& device, TaskRequest& task) {
  if (!device) return;
  for (const auto& [name, size] : device->dims) task.dims[name] = size;
  if (!device->cases.empty()) task.cases = device->cases;
}

/// An imported problem has one reference, in Python, and perhaps one kernel, in Python, too.
Problem imported(const fs::path& folder, std::string reference, Problem problem,
                 Implementation implementation) {
  problem.reference = {"ref.py", std::move(reference), folder.string(), ""};
  auto& task = problem.task;
  if (!is_python(implementation)) {
    // A module's or function's call is Python's. A compiled kernel gets all that the call is made
    // of, and the state, as buffers, sizes and values.
    if (task.call && *task.call != CallStyle::solve) task.entry = TaskRequest{}.entry;
    task.call.reset();
    task.signature.reset();
    return problem;
  }
  if (auto first = read_file(folder / kFirstVersion))
    problem.kernel = Source{kFirstVersion, *std::move(first), ""};
  return problem;
}

}  // namespace

Result<ProblemFile> read_problem(const fs::path& folder) {
  const auto path = folder / "problem.json";
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto json = Json::parse(*text, nullptr, false);
  if (json.is_discarded())
    return invalid_argument(fmt::format("{} is not valid JSON", path.string()));
  auto file = decode<ProblemFile>(json);
  if (!file)
    return Error{file.error().code, fmt::format("{}: {}", path.string(), file.error().message),
                 file.error().hint};
  return file;
}

std::vector<std::string> problem_names(const fs::path& data_dir) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(data_dir / "problems", none))
    if (fs::exists(entry.path() / "problem.json", none))
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

Result<Source> load_problem_kernel(const fs::path& data_dir, const std::string& name,
                                   Implementation implementation, const std::string& variant) {
  const auto folder = folder_of(data_dir, name);
  if (!folder) return folder.error();
  if (std::ranges::find(kVariants, variant) == kVariants.end())
    return invalid_argument(fmt::format("no variant named \"{}\"", variant),
                            fmt::format("Variants: {}.", fmt::join(kVariants, ", ")));
  const auto [sub, suffix] = place_of(implementation);
  const auto file_name = variant + suffix;
  auto text = read_file(*folder / sub / file_name);
  if (!text)
    return invalid_argument(
        fmt::format("problem {} has no {} kernel for {}", name, variant, sub),
        "Choose another implementation, or give `kernel` and `reference` yourself.");
  return Source{file_name, *std::move(text), ""};
}

Result<Problem> load_problem(const fs::path& data_dir, const std::string& name,
                             Implementation implementation) {
  const auto folder = folder_of(data_dir, name);
  if (!folder) return folder.error();
  auto file = read_problem(*folder);
  if (!file) return file.error();
  Problem problem;
  problem.task = std::move(file->task);
  problem.task.problem = folder->filename().string();
  problem.task.implementation = std::string(name_of(implementation));
  const bool host = device_kind_of(implementation) == DeviceKind::host;
  adopt_sizes(host ? file->host : file->cuda, problem.task);
  if (file->provenance) {
    auto text = read_file(*folder / "ref.py");
    if (!text) return text.error();
    return imported(*folder, *std::move(text), std::move(problem), implementation);
  }
  auto kernel = load_problem_kernel(data_dir, name, implementation, "naive");
  if (!kernel) return kernel.error();
  const auto [reference_name, reference_file] = reference_of(implementation);
  auto reference = read_file(*folder / reference_file);
  if (!reference) return reference.error();
  problem.kernel = *std::move(kernel);
  problem.reference = {std::string(reference_name), *std::move(reference), ""};
  return problem;
}

}  // namespace ratchet
