#include "kernels/build/toolchain.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "server/core/process.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{20};  // a cold Python on a slow disk takes seconds

/// Package names for find_spec and the package index. Nothing is imported: torch alone takes
/// seconds.
constexpr std::string_view kPythonProbe = R"(
import importlib.metadata as m, importlib.util as u, json, os, sys
found = {"python": sys.version.split()[0], "executable": sys.executable}
for name, module, package in (
    ("numpy", "numpy", "numpy"), ("torch", "torch", "torch"), ("triton", "triton", "triton"),
    ("cutlass-dsl", "cutlass", "nvidia-cutlass-dsl"),
    ("flashinfer", "flashinfer", "flashinfer-python"),
    ("tvm-ffi", "tvm_ffi", "apache-tvm-ffi"),
):
    try:
        spec = u.find_spec(module)
        if spec is None:
            continue
        if name == "triton":
            found["triton folder"] = os.path.dirname(spec.origin or "")
        found[name] = m.version(package)
    except Exception:
        pass
print(json.dumps(found))
)";

std::optional<std::string> output_of(std::vector<std::string> argv, const std::stop_token& stop,
                                     const std::vector<std::string>& more = {}) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = inherited_environment(
      {"PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TMPDIR"});
  spec.environment.emplace_back("LC_ALL=C");
  spec.environment.insert(spec.environment.end(), more.begin(), more.end());
  const auto captured = run_program(spec, kPatience, stop);
  if (!captured || !captured->status.clean()) return std::nullopt;
  return captured->out + "\n" + captured->err;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// PATH, then bin/ of the toolkit folders.
std::optional<fs::path> find_cuda_program(const std::string& name) {
  if (auto found = find_program(name)) return found;
  for (const auto& root : {variable("CUDA_HOME"), variable("CUDA_PATH"), variable("CUDA_ROOT"),
                           std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    if (auto found = find_program((fs::path(root) / "bin" / name).string())) return found;
  }
  return std::nullopt;
}

/// The word of digits and dots after `mark`.
std::string version_after(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + mark.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

/// "GNU objdump (GNU Binutils for Debian) 2.40": the version ends the first line.
std::string last_word(std::string_view text) {
  const auto line = text.substr(0, text.find('\n'));
  return std::string(line.substr(line.find_last_of(' ') + 1));
}

std::optional<FoundProgram> cuda_tool(const std::string& name, std::string_view mark,
                                      const std::stop_token& stop) {
  const auto path = find_cuda_program(name);
  if (!path) return std::nullopt;
  const auto text = output_of({path->string(), "--version"}, stop);
  if (!text) return std::nullopt;
  return FoundProgram{*path, version_after(*text, mark)};
}

std::optional<FoundProgram> host_compiler(const std::stop_token& stop) {
  const auto path = find_program("g++");
  if (!path) return std::nullopt;
  const auto text = output_of({path->string(), "-dumpfullversion"}, stop);
  if (!text) return std::nullopt;
  return FoundProgram{*path, version_after(*text, "")};
}

/// The folders that a compiler lists between "search starts here" and "End of search list".
std::vector<fs::path> listed_folders(std::string_view text) {
  std::vector<fs::path> dirs;
  auto at = text.find("#include <...>");
  const auto end = text.find("End of search list", std::min(at, text.size()));
  if (at == std::string_view::npos || end == std::string_view::npos) return dirs;
  for (at = text.find('\n', at) + 1; at < end; at = text.find('\n', at) + 1) {
    const auto line = text.substr(at, text.find('\n', at) - at);
    std::error_code none;
    if (!line.starts_with(" ")) continue;
    const auto dir = fs::weakly_canonical(line.substr(1), none);
    dirs.push_back(dir);
    // Debian 13 keeps the kernel's own headers elsewhere and links to each of them.
    const auto linked = fs::canonical(dir / "asm" / "types.h", none);
    if (!none) dirs.push_back(linked.parent_path());
  }
  return dirs;
}

std::vector<fs::path> include_dirs(const FoundProgram& compiler, const std::stop_token& stop) {
  const auto text = output_of({compiler.path.string(), "-xc++", "-E", "-v", "/dev/null"}, stop);
  return listed_folders(text.value_or(""));
}

/// One run tells all. It fails where the device libraries are missing, and then nothing builds.
std::optional<HipTools> hip_tools(const std::stop_token& stop) {
  const auto path = find_program("hipcc");
  if (!path) return std::nullopt;
  const auto text = output_of({path->string(), "--offload-arch=gfx906", "--cuda-device-only", "-E",
                               "-v", "-x", "hip", "/dev/null", "-o", "/dev/null"},
                              stop, {"HIP_PLATFORM=amd"});
  constexpr std::string_view kFrontEnd = "\" -cc1 ";
  const auto end = text ? text->find(kFrontEnd) : std::string::npos;
  if (end == std::string::npos) return std::nullopt;
  const auto begin = text->rfind('"', end - 1) + 1;
  std::error_code none;
  const fs::path clang = fs::weakly_canonical(text->substr(begin, end - begin), none);
  return HipTools{
      {*path, version_after(*text, "clang version ")}, clang.parent_path(), listed_folders(*text)};
}

/// The root of nvcc's toolkit; nvcc itself may be a link or a wrapper script.
fs::path cuda_home(const FoundProgram& nvcc, const std::stop_token& stop) {
  const auto text = output_of({nvcc.path.string(), "--dryrun", "-x", "cu", "/dev/null"}, stop);
  const auto at = text ? text->find(" TOP=") : std::string::npos;
  if (at == std::string::npos) return nvcc.path.parent_path().parent_path();
  const auto begin = at + 5;
  std::error_code none;
  return fs::weakly_canonical(text->substr(begin, text->find('\n', begin) - begin), none);
}

/// libnvrtc.so, or libnvrtc.so.13 where the toolkit's link is missing. Toolkits from wheels have
/// `lib`.
std::optional<fs::path> nvrtc_library(const fs::path& cuda_home) {
  std::error_code none;
  std::optional<fs::path> found;
  for (const auto* folder : {"lib64", "lib"}) {
    for (const auto& file : fs::directory_iterator(cuda_home / folder, none)) {
      const auto name = file.path().filename();
      const bool shorter = !found || name.string().size() < found->filename().string().size();
      if (name.string().starts_with("libnvrtc.so") && shorter) found = file.path();
    }
    if (found) break;
  }
  return found;
}

std::optional<std::string> cutlass_headers() {
  std::error_code none;
  for (const auto& root :
       {variable("CUTLASS_PATH"), variable("CUTLASS_ROOT"), variable("CUTLASS_HOME"),
        std::string("/usr/local/cutlass"), std::string("/opt/cutlass")}) {
    if (root.empty()) continue;
    for (const auto& dir : {fs::path(root) / "include", fs::path(root)})
      if (fs::exists(dir / "cutlass/cutlass.h", none) && fs::exists(dir / "cute/tensor.hpp", none))
        return fs::weakly_canonical(dir, none).string();
  }
  return std::nullopt;
}

/// Triton ships copies of tools that a toolkit may lack.
void find_in_triton(Toolchain& toolchain, const fs::path& triton, const std::stop_token& stop) {
  const auto look = [&](const char* name) -> std::optional<FoundProgram> {
    const auto path = find_program((triton / "backends/nvidia/bin" / name).string());
    const auto text = path ? output_of({path->string(), "--version"}, stop) : std::nullopt;
    if (!text) return std::nullopt;
    return FoundProgram{*path, version_after(*text, ", V")};
  };
  if (!toolchain.cuobjdump) toolchain.cuobjdump = look("cuobjdump");
  if (!toolchain.nvdisasm) toolchain.nvdisasm = look("nvdisasm");
}

/// What the probe prints; empty if it does not run.
std::string probe_python(const std::optional<fs::path>& python, const std::stop_token& stop) {
  if (!python) return "";
  return output_of({python->string(), "-c", std::string(kPythonProbe)}, stop).value_or("");
}

void note_python(Toolchain& toolchain, const fs::path& python, std::string_view probed,
                 const std::stop_token& stop) {
  const auto found = nlohmann::json::parse(probed, nullptr, false);
  if (!found.is_object()) return;
  for (const auto& [name, version] : found.items()) {
    if (!version.is_string() || name == "executable") continue;
    if (name == "triton folder") {
      find_in_triton(toolchain, version.get<std::string>(), stop);
      continue;
    }
    if (name == "python")
      toolchain.python = FoundProgram{python, version.get<std::string>()};
    else
      toolchain.python_packages[name] = version.get<std::string>();
  }
}

ToolState state_of(const std::string& name, const std::optional<FoundProgram>& tool) {
  if (!tool) return {name, false, "", ""};
  return {name, true, tool->version, tool->path.string()};
}

}  // namespace

Toolchain find_toolchain(const std::string& python, const std::stop_token& stop) {
  Toolchain toolchain;
  // They take as long as all others together, so beside them.
  const auto interpreter = find_program(python);
  auto probed = std::async(std::launch::async, probe_python, interpreter, stop);
  auto hip = std::async(std::launch::async, hip_tools, stop);
  toolchain.host_compiler = host_compiler(stop);
  if (toolchain.host_compiler)
    toolchain.include_dirs = include_dirs(*toolchain.host_compiler, stop);
  toolchain.nvcc = cuda_tool("nvcc", ", V", stop);
  if (toolchain.nvcc) toolchain.cuda_home = cuda_home(*toolchain.nvcc, stop);
  if (toolchain.nvcc) toolchain.nvrtc = nvrtc_library(toolchain.cuda_home);
  if (const auto objdump = find_program("objdump"))
    if (const auto text = output_of({objdump->string(), "--version"}, stop))
      toolchain.objdump = FoundProgram{*objdump, last_word(*text)};
  toolchain.ncu = cuda_tool("ncu", "Version ", stop);
  toolchain.cuobjdump = cuda_tool("cuobjdump", ", V", stop);
  toolchain.nvdisasm = cuda_tool("nvdisasm", ", V", stop);
  toolchain.sanitizer = cuda_tool("compute-sanitizer", "Version ", stop);
  toolchain.cutlass_include = cutlass_headers();
  toolchain.hip = hip.get();
  if (const auto text = probed.get(); !text.empty())
    note_python(toolchain, *interpreter, text, stop);
  return toolchain;
}

Error hip_missing() {
  return unavailable("a working hipcc was not found",
                     "Install hipcc and libamdhip64-dev (Debian, Ubuntu) or ROCm, and put hipcc on "
                     "PATH; check_env shows what is there.");
}

std::vector<ToolState> tool_states(const Toolchain& toolchain) {
  std::vector<ToolState> states{
      state_of("g++", toolchain.host_compiler),
      state_of("nvcc", toolchain.nvcc),
      state_of("hipcc", toolchain.hip ? std::optional(toolchain.hip->compiler) : std::nullopt),
      state_of("ncu", toolchain.ncu),
      state_of("cuobjdump", toolchain.cuobjdump),
      state_of("nvdisasm", toolchain.nvdisasm),
      state_of("objdump", toolchain.objdump),
      state_of("compute-sanitizer", toolchain.sanitizer),
      state_of("python", toolchain.python)};
  states.push_back(
      {"nvrtc", toolchain.nvrtc.has_value(), "", toolchain.nvrtc ? toolchain.nvrtc->string() : ""});
  states.push_back({"cutlass-headers", toolchain.cutlass_include.has_value(), "",
                    toolchain.cutlass_include.value_or("")});
  for (const auto* name : {"numpy", "torch", "triton", "cutlass-dsl", "flashinfer", "tvm-ffi"}) {
    const auto found = toolchain.python_packages.find(name);
    const bool there = found != toolchain.python_packages.end();
    states.push_back({name, there, there ? found->second : "", ""});
  }
  return states;
}

std::vector<ImplementationState> implementation_states(const Toolchain& toolchain,
                                                       bool cuda_device) {
  struct Need {
    bool met;
    const char* name;
  };
  const auto package = [&](const char* name) { return toolchain.python_packages.contains(name); };
  const Need device{cuda_device, "a CUDA device"};
  const Need nvcc{toolchain.nvcc.has_value(), "nvcc"};
  const Need compiler{toolchain.host_compiler.has_value(), "g++"};
  const Need torch{package("torch"), "torch"};
  const auto state = [](Implementation name, std::initializer_list<Need> needs) {
    ImplementationState result{name, true, {}};
    for (const auto& need : needs)
      if (!need.met) result.missing.emplace_back(need.name);
    result.ready = result.missing.empty();
    return result;
  };
  return {
      state(Implementation::host_cpp, {compiler}),
      state(Implementation::cuda_cpp, {device, nvcc, compiler}),
      state(Implementation::cutlass,
            {device, nvcc, compiler, {toolchain.cutlass_include.has_value(), "CUTLASS headers"}}),
      state(Implementation::cute_dsl, {device, torch, {package("cutlass-dsl"), "cutlass-dsl"}}),
      state(Implementation::triton, {device, torch, {package("triton"), "triton"}}),
      state(Implementation::host_python, {{package("numpy"), "numpy"}})};
}

}  // namespace ratchet
