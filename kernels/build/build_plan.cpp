#include "kernels/build/build_plan.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "kernels/build/build_flags.h"
#include "kernels/build/build_needs.h"
#include "kernels/build/fewer_blocks.h"
#include "kernels/source/launch.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat =
    "5";  // part of the key: increase it when the commands below change

/// -march=native depends on the processor.
std::string processor() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line, text;
  while (std::getline(cpuinfo, line) && !line.empty())
    if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features"))
      text += line + "\n";
  return text;
}

std::string standard_of(const BuildNeeds& needs) {
  return "-std=" + needs.standard.value_or("c++17");
}

void add_host_arguments(BuildPlan& plan, const BuildNeeds& needs, const Toolchain& toolchain) {
  plan.compiler = "g++ " + toolchain.host_compiler->version;
  plan.arguments = {toolchain.host_compiler->path.string(),
                    standard_of(needs),
                    "-O3",
                    "-march=native",
                    "-fPIC",
                    "-ffunction-sections",
                    "-fdata-sections",
                    "-fopenmp",
                    "-fdiagnostics-color=never",
                    "-fno-diagnostics-show-caret",
                    "-frandom-seed=0"};
  // A host reference of a CUDA kernel may use types such as half, which come from the toolkit.
  const bool cuda_types = needs.cuda_types || plan.header.find("cuda_") != std::string::npos;
  if (cuda_types && !toolchain.cuda_home.empty()) {
    plan.arguments.emplace_back("-isystem");
    plan.arguments.push_back((toolchain.cuda_home / "include").string());
  }
}

void add_cuda_arguments(BuildPlan& plan, const std::string& arch, const BuildNeeds& needs,
                        const Toolchain& toolchain) {
  plan.compiler = "nvcc " + toolchain.nvcc->version;
  auto number = arch;
  if (number.starts_with("sm_")) number.erase(0, 3);
  plan.arguments = {toolchain.nvcc->path.string(),
                    standard_of(needs),
                    "-O3",
                    "-lineinfo",
                    "--expt-relaxed-constexpr",
                    "--extended-lambda",
                    "-DNVTX_DISABLE",  // thrust and cub would load a library for it
                    "-gencode",
                    fmt::format("arch=compute_{},code=sm_{}", number, number),
                    "-Xcompiler",
                    "-fPIC,-ffunction-sections,-fdata-sections",
                    "-Xptxas",
                    "-v"};
  if (toolchain.host_compiler)
    plan.arguments.insert(plan.arguments.end(), {"-ccbin", toolchain.host_compiler->path.string()});
  if (toolchain.cutlass_include)
    plan.arguments.insert(plan.arguments.end(), {"-I", *toolchain.cutlass_include});
}

/// The compiler itself tells what a kernel needs (registers, LDS, scratch), in remarks.
void add_hip_arguments(BuildPlan& plan, const std::string& arch, const BuildNeeds& needs,
                       const Toolchain& toolchain) {
  plan.compiler = "hipcc (clang " + toolchain.hip->compiler.version + ")";
  plan.environment = {"HIP_PLATFORM=amd"};  // hipcc calls nvcc where it finds one
  plan.arguments = {toolchain.hip->compiler.path.string(),
                    standard_of(needs),
                    "-O3",
                    "-gline-tables-only",
                    "--offload-arch=" + arch,
                    "-fPIC",
                    "-ffunction-sections",
                    "-fdata-sections",
                    "-fno-color-diagnostics",
                    "-fno-caret-diagnostics",
                    "-Rpass-analysis=kernel-resource-usage"};
}

/// Where a toolkit keeps its libraries: lib64, or lib in one that was installed from wheels.
fs::path libraries_of(const Toolchain& toolchain) {
  std::error_code none;
  auto folder = toolchain.cuda_home / "lib64";
  return fs::exists(folder, none) ? folder : toolchain.cuda_home / "lib";
}

/// "-lcudart", or with the file's name, such as "-l:libcudart.so.13", where there is no link to it.
std::string runtime_option(const fs::path& libraries) {
  std::error_code none;
  std::string option = "-lcudart";
  if (fs::exists(libraries / "libcudart.so", none)) return option;
  for (const auto& file : fs::directory_iterator(libraries, none))
    if (const auto name = file.path().filename().string(); name.starts_with("libcudart.so."))
      option = "-l:" + name;
  return option;
}

/// Needs of the source that the request does not name.
void add_libraries(BuildPlan& plan, const BuildNeeds& needs) {
  for (const auto& library : needs.libraries) {
    if (std::ranges::find(plan.libraries, library) != plan.libraries.end()) continue;
    plan.libraries.push_back(library);
    plan.arguments.push_back("-l" + library);
    plan.notes.push_back({"", 0, fmt::format("lib{} is linked: the source uses it", library)});
  }
}

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

/// Part of the header that the source is compiled with, so that nothing of the source changes.
void add_fewer_blocks(BuildPlan& plan) {
  plan.header += fewer_blocks_code();
  // Stubs are compiled by the host compiler, without the source's macros.
  append(plan.arguments,
         {fmt::format("-D{}", kPlainLaunches), "-Xcompiler", fmt::format("-D{}", kPlainLaunches),
          "-Xlinker", fmt::format("--wrap={}", kLaunchFunction)});
}

void add_link_arguments(BuildPlan& plan, const BuildNeeds& needs, const Toolchain& toolchain,
                        Language language) {
  auto& arguments = plan.arguments;
  append(arguments, {"-shared", "-MD", "-MF", "headers.d", "-o", "library.so"});
  if (language == Language::cuda) {
    // The worker loads the shared runtime from where the compiler found it.
    const auto libraries = libraries_of(toolchain).string();
    const auto runtime = runtime_option(libraries);
    // Only launches from kernels need the device linker, which is slow to start.
    arguments.emplace_back(needs.device_launches ? "-lcudadevrt" : "-nodlink");
    if (runtime == "-lcudart")
      append(arguments, {"-cudart", "shared"});
    else
      append(arguments, {"-cudart", "none", "-L" + libraries, runtime});
    append(arguments, {"-Xlinker", "-rpath", "-Xlinker", libraries});
    if (std::ranges::find(plan.libraries, "cuda") != plan.libraries.end())
      arguments.push_back("-L" + libraries + "/stubs");
  }
  // All called functions must exist at link time: nothing is looked up later.
  for (const auto* option : {"defs", "now", "relro"})
    append(arguments, {"-Xlinker", "-z", "-Xlinker", option});
  append(arguments, {"-Xlinker", "--gc-sections", "-Xlinker",
                     fmt::format("--version-script={}", kExportsFile)});
}

}  // namespace

std::string name_to_compile(const Source& source, Language language) {
  auto name = fs::path(source.file_name).filename().string();
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.' || c == '-';
  };
  const auto suffix = fs::path(name).extension().string();
  const std::string usual = language == Language::cuda  ? ".cu"
                            : language == Language::hip ? ".hip"
                                                        : ".cpp";
  const bool fits =
      suffix == usual || (language == Language::cpp && (suffix == ".cc" || suffix == ".cxx"));
  if (fits && name[0] != '-' && name[0] != '.' && std::ranges::all_of(name, plain)) return name;
  return "kernel" + usual;
}

BuildPlan plan_build(const BuildRequest& request, const Toolchain& toolchain, std::string header) {
  auto needs = build_needs(with_local_headers(request.source));
  // The compilers do not accept a second -std.
  for (const auto& flag : request.flags)
    if (flag.starts_with("-std=")) needs.standard = flag.substr(5);
  BuildPlan plan;
  plan.file_name = name_to_compile(request.source, request.language);
  plan.header = std::move(header);
  switch (request.language) {
    case Language::cuda:
      add_cuda_arguments(plan, exact_arch(request.arch, needs), needs, toolchain);
      break;
    case Language::hip:
      add_hip_arguments(plan, request.arch, needs, toolchain);
      break;
    case Language::cpp:
      add_host_arguments(plan, needs, toolchain);
      break;
  }
  if (!request.source.folder.empty()) append(plan.arguments, {"-I", kBesideLink});
  std::ranges::copy_if(request.flags, std::back_inserter(plan.arguments),
                       [](const auto& flag) { return !flag.starts_with("-std="); });
  // After all others: a user's own solve.h is found first.
  append(plan.arguments, {"-I", kGeneratedFolder, "-include",
                          fmt::format("{}/solve.h", kGeneratedFolder), plan.file_name});
  plan.libraries = linked_libraries(request.flags);
  if (request.language == Language::cuda) {
    if (needs.device_launches) plan.arguments.emplace_back("-rdc=true");
    if (request.fewer_blocks) add_fewer_blocks(plan);
    plan.check = plan.arguments;
    append(plan.check, {"-cubin", "-o", "check.cubin"});
    add_libraries(plan, needs);
  }
  add_link_arguments(plan, needs, toolchain, request.language);
  return plan;
}

BuildPlan plan_device_build(const BuildRequest& request, const Toolchain& toolchain,
                            const fs::path& nvrtc_program, std::string header, std::string stub) {
  const auto needs = build_needs(with_local_headers(request.source));
  const auto arch = exact_arch(request.arch, needs);
  const auto libraries = libraries_of(toolchain).string();
  BuildPlan plan;
  plan.file_name = name_to_compile(request.source, Language::cuda);
  plan.header = std::move(header);
  plan.stub = std::move(stub);
  add_cuda_arguments(plan, arch, needs, toolchain);
  if (!request.source.folder.empty()) append(plan.arguments, {"-I", kBesideLink});
  append(plan.arguments, request.flags);
  append(plan.arguments, {"-include", fmt::format("{}/solve.h", kGeneratedFolder), plan.file_name,
                          "-MD", "-MF", "headers.d", "-cubin", "-o", kCubinFile});
  const bool nvrtc = toolchain.nvrtc && !nvrtc_program.empty() && request.flags.empty();
  if (nvrtc && reads_toolkit_alone(request.source.text)) {
    plan.fast = {nvrtc_program.string(), toolchain.nvrtc->string()};
    plan.fast_options = {"--gpu-architecture=" + arch, standard_of(needs), "-lineinfo",
                         "--ptxas-options=-v", "-I" + (toolchain.cuda_home / "include").string()};
  }
  const auto compiler = toolchain.host_compiler->path.string();
  plan.finish = {{(toolchain.cuda_home / "bin/fatbinary").string(), "-64",
                  fmt::format("--create={}", kImageFile),
                  fmt::format("--image3=kind=elf,sm={},file={}", arch.substr(3), kCubinFile)},
                 {compiler, "-shared", "stub.o", kImageSource, "-o", "library.so", "-L" + libraries,
                  runtime_option(libraries), "-Wl,-rpath," + libraries, "-Wl,-z,defs", "-Wl,-z,now",
                  "-Wl,-z,relro", fmt::format("-Wl,--version-script={}", kExportsFile)}};
  plan.beside = {compiler, "-O1", "-fPIC", "-c", kStubFile, "-o", "stub.o"};
  return plan;
}

std::string exports_of(const std::string& entry) {
  return fmt::format("{{ global: {}; local: *; }};\n", entry);
}

std::string shown_command(std::vector<std::string> arguments, const Toolchain& toolchain) {
  arguments[0] = fs::path(arguments[0]).filename().string();
  const auto replace = [&](const std::string& folder, std::string_view shown) {
    if (folder.empty()) return;
    for (auto& argument : arguments)
      if (const auto at = argument.find(folder); at != std::string::npos)
        argument.replace(at, folder.size(), shown);
  };
  replace(toolchain.cutlass_include.value_or(""), "<cutlass>");
  replace(toolchain.cuda_home.string(), "<cuda>");
  if (toolchain.host_compiler) replace(toolchain.host_compiler->path.string(), "g++");
  return fmt::format("{}", fmt::join(arguments, " "));
}

std::string request_key(const BuildPlan& plan, const BuildRequest& request) {
  std::string text = fmt::format("ratchet build {}\n{}\n{}\n", kFormat, plan.compiler,
                                 fmt::join(plan.arguments, "\x1f"));
  text +=
      fmt::format("{}\n{}\n", fmt::join(plan.fast, "\x1f"), fmt::join(plan.fast_options, "\x1f"));
  if (request.language == Language::cpp) text += processor();
  // In another folder, the same source has other headers beside it.
  return sha256_hex(text + "\n" + request.source.folder + "\n" + request.entry + "\n" +
                    plan.header + "\n" + plan.stub + "\n" + request.source.text);
}

}  // namespace ratchet
