#include "kernels/builder.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "kernels/build_flags.h"
#include "kernels/build_headers.h"
#include "kernels/compiler_output.h"
#include "kernels/elf_symbols.h"
#include "kernels/signature.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/core/process.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat =
    "3";  // part of the key: raise it when the commands below change
constexpr std::size_t kCompilerMemory = std::size_t{24}
                                        << 30U;  // cicc reserves far more than it uses
constexpr std::size_t kLargestFile = std::size_t{1} << 30U;

/// A folder that goes away with everything in it.
class WorkFolder {
 public:
  explicit WorkFolder(fs::path path) : path_(std::move(path)) {}
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// -march=native means another thing on every processor.
std::string processor() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line, text;
  while (std::getline(cpuinfo, line) && !line.empty())
    if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features"))
      text += line + "\n";
  return text;
}

/// A name for the compiler that reads well in messages and cannot be an option or a path.
std::string safe_name(const Source& source, bool cuda) {
  const auto name = fs::path(source.file_name).filename().string();
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.' || c == '-';
  };
  const auto suffix = fs::path(name).extension().string();
  const bool fits =
      cuda ? suffix == ".cu" : suffix == ".cpp" || suffix == ".cc" || suffix == ".cxx";
  if (fits && name[0] != '-' && name[0] != '.' && std::ranges::all_of(name, plain)) return name;
  return cuda ? "kernel.cu" : "kernel.cpp";
}

/// What one build needs to know besides the request.
struct Plan {
  std::string file_name;
  std::string header;  ///< generated solve.h; empty when the source declares its entry itself
  std::vector<std::string> arguments;
  std::string compiler;  ///< "g++ 12.2.0"
};

void add_host_arguments(Plan& plan, const BuildRequest& request, const Toolchain& toolchain) {
  plan.compiler = "g++ " + toolchain.host_compiler->version;
  plan.arguments = {toolchain.host_compiler->path.string(),
                    "-std=c++17",
                    "-O3",
                    "-march=native",
                    "-shared",
                    "-fPIC",
                    "-fopenmp",
                    "-fdiagnostics-color=never",
                    "-fno-diagnostics-show-caret",
                    "-frandom-seed=0"};
  // A host reference of a CUDA kernel may use half and the like, which live in the toolkit.
  const bool cuda_types = request.source.text.find("cuda_") != std::string::npos ||
                          plan.header.find("cuda_") != std::string::npos;
  if (cuda_types && !toolchain.cuda_home.empty()) {
    plan.arguments.emplace_back("-isystem");
    plan.arguments.push_back((toolchain.cuda_home / "include").string());
  }
}

void add_cuda_arguments(Plan& plan, const BuildRequest& request, const Toolchain& toolchain) {
  plan.compiler = "nvcc " + toolchain.nvcc->version;
  auto number = request.arch;
  if (number.starts_with("sm_")) number.erase(0, 3);
  plan.arguments = {toolchain.nvcc->path.string(),
                    "-shared",
                    "-std=c++17",
                    "-O3",
                    "-lineinfo",
                    "-gencode",
                    fmt::format("arch=compute_{},code=sm_{}", number, number),
                    "-Xcompiler",
                    "-fPIC",
                    "-Xptxas",
                    "-v",
                    "-cudart",
                    "shared"};
  // The worker loads the shared runtime from where the compiler found it.
  const auto libraries = (toolchain.cuda_home / "lib64").string();
  plan.arguments.insert(plan.arguments.end(), {"-Xlinker", "-rpath", "-Xlinker", libraries});
  if (toolchain.host_compiler)
    plan.arguments.insert(plan.arguments.end(), {"-ccbin", toolchain.host_compiler->path.string()});
  if (toolchain.cutlass_include) {
    plan.arguments.insert(plan.arguments.end(),
                          {"-I", *toolchain.cutlass_include, "--expt-relaxed-constexpr"});
  }
  const auto linked = linked_libraries(request.flags);
  if (std::ranges::find(linked, "cuda") != linked.end())
    plan.arguments.push_back("-L" + libraries + "/stubs");
}

Plan plan_of(const BuildRequest& request, const Toolchain& toolchain, std::string header) {
  Plan plan;
  plan.file_name = safe_name(request.source, request.cuda);
  plan.header = std::move(header);
  if (request.cuda)
    add_cuda_arguments(plan, request, toolchain);
  else
    add_host_arguments(plan, request, toolchain);
  auto& arguments = plan.arguments;
  if (!request.source.folder.empty())
    arguments.insert(arguments.end(), {"-I", request.source.folder});
  arguments.insert(arguments.end(), request.flags.begin(), request.flags.end());
  if (!plan.header.empty()) arguments.insert(arguments.end(), {"-include", "solve.h"});
  arguments.insert(arguments.end(),
                   {"-MD", "-MF", "headers.d", "-o", "library.so", plan.file_name});
  // Everything called must be there at link time: nothing is looked up later.
  for (const auto* option : {"defs", "now", "relro"}) {
    if (request.cuda)
      arguments.insert(arguments.end(), {"-Xlinker", "-z", "-Xlinker", option});
    else
      arguments.push_back(fmt::format("-Wl,-z,{}", option));
  }
  return plan;
}

/// The command as people should see it: no folders of this machine.
std::string shown_command(const Plan& plan, const BuildRequest& request,
                          const Toolchain& toolchain) {
  auto arguments = plan.arguments;
  arguments[0] = fs::path(arguments[0]).filename().string();
  const auto replace = [&](const std::string& folder, std::string_view shown) {
    if (folder.empty()) return;
    for (auto& argument : arguments)
      if (const auto at = argument.find(folder); at != std::string::npos)
        argument.replace(at, folder.size(), shown);
  };
  replace(request.source.folder, "<source>");
  replace(toolchain.cutlass_include.value_or(""), "<cutlass>");
  replace(toolchain.cuda_home.string(), "<cuda>");
  if (toolchain.host_compiler) replace(toolchain.host_compiler->path.string(), "g++");
  return fmt::format("{}", fmt::join(arguments, " "));
}

std::string request_key(const Plan& plan, const BuildRequest& request) {
  std::string text = fmt::format("ratchet build {}\n{}\n{}\n", kFormat, plan.compiler,
                                 fmt::join(plan.arguments, "\x1f"));
  if (!request.cuda) text += processor();
  return sha256_hex(text + "\n" + plan.header + "\n" + request.source.text);
}

BuildRecord failed(BuildRecord record, std::string error_class, std::string message,
                   std::string hint) {
  record.ok = false;
  record.error_class = std::move(error_class);
  record.hint = std::move(hint);
  if (!message.empty()) record.errors.push_back({"", 0, std::move(message)});
  return record;
}

/// Whether the entry takes what the contract froze. Names do not matter, order and types do.
bool matches(const std::vector<Parameter>& seen, const std::vector<Parameter>& wanted) {
  return std::ranges::equal(seen, wanted, [](const Parameter& a, const Parameter& b) {
    const auto pointer = [](const Parameter& p) { return p.kind == ParameterKind::tensor; };
    const auto stream = [](const Parameter& p) { return p.kind == ParameterKind::stream; };
    return pointer(a) == pointer(b) && stream(a) == stream(b) && (stream(a) || a.dtype == b.dtype);
  });
}

/// One compiler run in its folder.
class Compilation {
 public:
  Compilation(const BuildRequest& request, const Toolchain& toolchain,
              std::chrono::seconds deadline, Plan plan, fs::path work)
      : request_(request),
        toolchain_(toolchain),
        deadline_(deadline),
        plan_(std::move(plan)),
        work_(std::move(work)) {}

  /// Errors are ours; what is wrong with the source is in the record.
  Result<BuildRecord> run(BuildRecord record, const CallContext& call) {
    if (const auto written = write_sources(); !written) return written.error();
    const auto output = compile(call);
    if (!output) return output.error();
    record.build_ms = std::chrono::duration<double, std::milli>(output->elapsed).count();
    const auto text = output->out + "\n" + output->err;
    read_output(text, record);
    if (output->timed_out)
      return failed(std::move(record), "compile_timeout",
                    fmt::format("the compiler ran longer than {} s", deadline_.count()),
                    "Instantiate fewer templates or split the kernel.");
    if (!output->status.clean()) {
      auto why = classify_failure(text, request_.arch);
      auto message = record.errors.empty() ? tail(text) : std::string();
      return failed(std::move(record), std::move(why.name), std::move(message),
                    std::move(why.hint));
    }
    return inspect(std::move(record));
  }

  [[nodiscard]] const std::vector<Dependency>& headers() const { return headers_; }
  [[nodiscard]] const std::string& library() const { return library_; }

 private:
  Status write_sources() {
    if (!plan_.header.empty())
      if (const auto written = write_file(work_ / "solve.h", plan_.header); !written)
        return written;
    return write_file(work_ / plan_.file_name, request_.source.text);
  }

  Result<Captured> compile(const CallContext& call) {
    ProcessSpec spec;
    spec.argv = plan_.arguments;
    spec.folder = work_;
    spec.environment = inherited_environment({"PATH"});
    for (const auto* name : {"TMPDIR=", "HOME="}) spec.environment.push_back(name + work_.string());
    spec.environment.emplace_back("LC_ALL=C");
    spec.address_space_bytes = kCompilerMemory;
    spec.file_size_bytes = kLargestFile;
    return run_program(spec, deadline_, call.stop());
  }

  void read_output(const std::string& text, BuildRecord& record) const {
    auto output = parse_compiler_output(text);
    record.warnings = std::move(output.warnings);
    record.errors = std::move(output.errors);
    record.registers = output.registers;
    record.shared_bytes = output.shared_bytes;
    record.stack_bytes = output.stack_bytes;
    record.spill_bytes = output.spill_bytes;
  }

  static std::string tail(const std::string& text) {
    return text.size() > kMaxDiagnosticText ? text.substr(text.size() - kMaxDiagnosticText) : text;
  }

  /// Looks at what was built before it is trusted with a name.
  Result<BuildRecord> inspect(BuildRecord record) {
    const auto rule = read_file(work_ / "headers.d");
    if (!rule) return rule.error();
    auto headers = headers_of(*rule, work_, request_.source, toolchain_);
    if (headers.intruder)
      return failed(
          std::move(record), "forbidden_include",
          fmt::format("the source includes {}", *headers.intruder),
          "Only headers beside the source, the toolkit's and the system's may be included.");
    headers_ = std::move(headers.local);
    auto library = read_file(work_ / "library.so", kLargestFile);
    if (!library) return library.error();
    library_ = *std::move(library);
    const auto symbols = imported_symbols(library_);
    if (!symbols) return symbols.error();
    const auto forbidden =
        forbidden_symbols(*symbols, request_.cuda, linked_libraries(request_.flags));
    if (!forbidden.empty())
      return failed(std::move(record), "forbidden_symbol",
                    fmt::format("the kernel may not call: {}", fmt::join(forbidden, ", ")),
                    "Kernels compute: no files, threads of their own (OpenMP is fine), processes, "
                    "loading of libraries or sleeping.");
    record.ok = true;
    record.binary_digest = sha256_hex(library_);
    return record;
  }

  const BuildRequest& request_;
  const Toolchain& toolchain_;
  std::chrono::seconds deadline_;
  Plan plan_;
  fs::path work_;
  std::vector<Dependency> headers_;
  std::string library_;
};

Status check_tools(const BuildRequest& request, const Toolchain& toolchain) {
  const bool there =
      request.cuda ? toolchain.nvcc.has_value() : toolchain.host_compiler.has_value();
  if (!there)
    return Error{
        ErrorCode::unavailable, fmt::format("{} was not found", request.cuda ? "nvcc" : "g++"),
        request.cuda ? "Install the CUDA toolkit or set CUDA_HOME; check_env shows what is there."
                     : "Install g++; check_env shows what is there."};
  if (request.cutlass && !toolchain.cutlass_include)
    return Error{ErrorCode::unavailable, "the CUTLASS headers were not found",
                 "Set CUTLASS_PATH to a checkout of CUTLASS."};
  return check_flags(request.flags, request.cuda);
}

}  // namespace

BuildRequest kernel_build(const Contract& contract, Source source) {
  BuildRequest request;
  request.source = std::move(source);
  request.cuda = contract.device_kind == DeviceKind::cuda;
  request.cutlass = contract.implementation == Implementation::cutlass;
  request.entry = contract.entry;
  request.arch = contract.arch;
  request.flags = contract.flags;
  request.parameters = contract.parameters;
  return request;
}

BuildRequest reference_build(const Contract& contract) {
  BuildRequest request;
  request.source = contract.reference;
  request.cuda = contract.reference_kind == ReferenceKind::cuda;
  request.entry = "reference";
  request.arch = request.cuda ? contract.arch : "native";
  return request;
}

Result<Builder> Builder::open(Options options) {
  auto cache = BuildCache::open(options.cache);
  if (!cache) return cache.error();
  return Builder(std::move(options), *std::move(cache));
}

const Toolchain& Builder::toolchain() const {
  std::call_once(found_->once, [this] { found_->toolchain = options_.find_toolchain(); });
  return found_->toolchain;
}

Result<BuildRecord> Builder::build(const BuildRequest& request, const CallContext& call) const {
  if (const auto ready = check_tools(request, toolchain()); !ready) return ready.error();
  BuildRecord record;
  record.source_digest = sha256_hex(request.source.text);
  const auto signature = parse_signature(request.source.text, request.entry);
  if (!signature)
    return failed(std::move(record), "signature", signature.error().message,
                  signature.error().hint);
  if (!request.parameters.empty() && !matches(signature->parameters, request.parameters))
    return failed(std::move(record), "signature",
                  fmt::format("{} takes other parameters than the contract froze", request.entry),
                  "Keep v0's parameter list: same order, same types.");
  const auto plan = plan_of(request, toolchain(),
                            signature->extern_c ? std::string() : declaration_header(*signature));
  record.toolchain = plan.compiler;
  record.command = shown_command(plan, request, toolchain());
  const auto key = request_key(plan, request);
  if (auto found = cache_.find(key)) return *std::move(found);
  auto work = cache_.make_work_folder();
  if (!work) return work.error();
  const WorkFolder folder(*std::move(work));
  Compilation compilation(request, toolchain(), options_.deadline, plan, folder.path());
  auto built = compilation.run(std::move(record), call);
  if (!built || !built->ok) return built;
  built->build_key = BuildCache::build_key(key, compilation.headers());
  return cache_.publish(key, compilation.headers(), *built, compilation.library());
}

Result<fs::path> Builder::path_of(const std::string& build_key) const {
  return cache_.path_of(build_key);
}

}  // namespace ratchet
