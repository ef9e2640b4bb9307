#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "kernels/lab.h"
#include "server/core/roots.h"
#include "server/core/storage.h"
#include "server/facts/problem_import.h"
#include "tools/all.h"
#include "tools/recorded_inputs.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFile = std::size_t{16} << 20U;
constexpr std::size_t kMostFiles = 256;
constexpr const char* kTimes = "results/timing";  // hardware/configuration.json
constexpr int kMostUp = 4;                        // from a problem to its checkout
constexpr int kMostOps = 2;                       // folders between definitions/ and a file
constexpr std::size_t kMostTimes = std::size_t{1} << 20U;
constexpr std::size_t kMostTimesSeen = 256;  // files
constexpr std::size_t kMostTimesBytes = std::size_t{4} << 20U;
constexpr std::array kRead{".py", ".json", ".jsonl", ".yml", ".yaml", ".cu", ".cpp", ".h"};
constexpr const char* kDescription = "problem.md";  // of Tensara

struct ImportProblemArgs {
  std::string path;
  std::string output_dir;
  std::optional<std::string> format;
  std::optional<std::string> scale;

  static constexpr void fields(auto&& visit) {
    using A = ImportProblemArgs;
    visit(required<&A::path>("File or folder.", {.max_length = 4096}),
          required<&A::output_dir>("", {.max_length = 4096}),
          optional<&A::format>("Default: recognized.", {.max_length = 32}),
          optional<&A::scale>("Most bytes of buffers, e.g. 4G, or none.", {.max_length = 16}));
  }
};

bool is_read(const fs::path& file) {
  return file.filename() == kDescription ||
         std::ranges::find(kRead, file.extension().string()) != kRead.end();
}

/// The first line of the nearest license above a file, inside the roots.
std::string license_above(const Roots& roots, fs::path folder) {
  for (; folder.has_relative_path(); folder = folder.parent_path())
    for (const char* name : {"LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING"}) {
      const auto file = roots.read(folder / name, kMostFile);
      if (!file) continue;
      const auto begin = file->bytes.find_first_not_of(" \t\r\n#");
      if (begin == std::string::npos) continue;
      return fmt::format("{}: {}", name,
                         file->bytes.substr(begin, file->bytes.find('\n', begin) - begin));
    }
  return "";
}

Status add_files(const Roots& roots, const fs::path& folder, const std::string& prefix,
                 ProblemImport& import) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (!entry.is_regular_file(failed) || !is_read(entry.path())) continue;
    auto file = roots.read(entry.path(), kMostFile);
    if (!file) return file.error().at("path");
    import.files[prefix + entry.path().filename().string()] = std::move(file->bytes);
    if (import.files.size() > kMostFiles)
      return invalid_argument(
          fmt::format("path: {} has more than {} files", folder.string(), kMostFiles),
          "Name the file or folder of one problem.");
  }
  return {};
}

/// Paths of the files with a checkout's own times. Links are not followed.
std::vector<fs::path> times_files(const fs::path& checkout) {
  std::vector<fs::path> files;
  std::error_code failed;
  const auto folder = checkout / kTimes;
  if (fs::canonical(folder, failed) != folder) return files;
  for (const auto& hardware : fs::directory_iterator(folder, failed)) {
    if (hardware.is_symlink(failed)) continue;
    for (const auto& file : fs::directory_iterator(hardware.path(), failed)) {
      if (file.path().extension() == ".json") files.push_back(file.path());
      if (files.size() >= kMostTimesSeen) return files;
    }
  }
  return files;
}

/// The suite's own times from the checkout that a problem's file lies in. What cannot be read costs
/// a line.
void add_times(const Roots& roots, const RootFile& problem, ProblemImport& import) {
  fs::path checkout = problem.path.parent_path();
  auto files = times_files(checkout);
  for (int up = 0; up < kMostUp && files.empty() && checkout != problem.root; ++up) {
    checkout = checkout.parent_path();
    files = times_files(checkout);
  }
  import.place = problem.path.lexically_relative(checkout).generic_string();
  std::size_t bytes = 0;
  for (const auto& path : files) {
    auto file = roots.read(path, kMostTimes);
    if (!file || bytes + file->bytes.size() > kMostTimesBytes) continue;
    bytes += file->bytes.size();
    import.figures[path.lexically_relative(checkout).generic_string()] = std::move(file->bytes);
  }
  if (const auto left = files.size() - import.figures.size(); left > 0)
    import.left_out.push_back(
        fmt::format("{}: {} of {} files are not read: the most are {} bytes each and {} together, "
                    "inside the allowed folders",
                    kTimes, left, files.size(), kMostTimes, kMostTimesBytes));
}

/// In a checkout of FlashInfer-Bench, definitions/OP/NAME.json has its workloads in
/// workloads/OP/NAME.jsonl. Empty for other files.
fs::path workloads_of(const fs::path& definition) {
  if (definition.extension() != ".json") return {};
  auto name = definition.filename().replace_extension(".jsonl");
  auto folder = definition.parent_path();
  for (int up = 0; up <= kMostOps; ++up) {
    if (folder.filename() == "definitions") return folder.parent_path() / "workloads" / name;
    name = folder.filename() / name;
    folder = folder.parent_path();
  }
  return {};
}

Result<ProblemImport> of_folder(const Roots& roots, const fs::path& folder) {
  ProblemImport import;
  import.name = folder.filename().string();
  import.license = license_above(roots, folder);
  if (auto added = add_files(roots, folder, "", import); !added) return added.error();
  // Problems of GPU MODE share files that lie beside their folders.
  if (import.files.contains("task.yml"))
    if (auto added = add_files(roots, folder.parent_path(), "../", import); !added)
      return added.error();
  if (import.files.empty())
    return not_found(
        fmt::format("path: {} has no file that a problem could be in", folder.string()),
        "Name the file or folder of one problem.");
  add_recorded_inputs(roots, folder, import);
  return import;
}

/// `named`: its place as the caller says it, which has the layout of a checkout where a link leads
/// to a file elsewhere.
Result<ProblemImport> of_file(const Roots& roots, const fs::path& named, RootFile file) {
  ProblemImport import;
  import.name = file.path.filename().string();
  import.license = license_above(roots, file.path.parent_path());
  if (const auto workloads = workloads_of(named); !workloads.empty()) {
    import.name = named.filename().string();
    auto lines = roots.read(workloads, kMostFile);
    if (!lines) return lines.error().at("path");
    import.files["definition.json"] = std::move(file.bytes);
    import.files["workload.jsonl"] = std::move(lines->bytes);
    add_recorded_inputs(roots, file.path.parent_path(), import);
    return import;
  }
  add_times(roots, file, import);
  import.files[import.name] = std::move(file.bytes);
  return import;
}

Result<ProblemImport> gathered(const Roots& roots, const fs::path& path) {
  std::error_code failed;
  auto real = fs::canonical(path, failed);
  if (failed) return not_found(fmt::format("path: {}: {}", path.string(), failed.message()));
  if (fs::is_directory(real, failed)) return of_folder(roots, real);
  auto file = roots.read(real, kMostFile);
  if (!file) return file.error().at("path");
  const auto named = fs::absolute(path, failed).lexically_normal();
  if (!marks_problem(named)) return of_file(roots, named, *std::move(file));
  real = fs::canonical(named.parent_path(), failed);
  if (failed) return not_found(fmt::format("path: {}: {}", path.string(), failed.message()));
  return of_folder(roots, real);
}

Result<ImportedProblem> imported(const Services& services, const ImportProblemArgs& args,
                                 CallContext& call) {
  const auto output = services.roots.output_folder(args.output_dir);
  if (!output) return output.error().at("output_dir");
  auto import = gathered(services.roots, args.path);
  if (!import) return import.error();
  import->folder = output->string();
  import->format = args.format.value_or("");
  import->scale = args.scale != "none";
  if (import->scale && args.scale) {
    const auto most = parse_size(*args.scale);
    if (!most) return most.error().at("scale");
    import->most_bytes = *most;
  }
  return services.lab.import_problem(*std::move(import), call);
}

}  // namespace

Tool import_problem(const Services& services) {
  return make_tool<ImportProblemArgs, ImportedProblem>(
      {.name = "import_problem",
       .summary = "Make a problem of KernelBench, SOL-ExecBench, GPU MODE and others a folder for "
                  "create_run.",
       .effect = Effect::uses_device,
       .toolset = Toolset::loop},
      [services](const ImportProblemArgs& args, CallContext& call) {
        return imported(services, args, call);
      });
}

}  // namespace ratchet
