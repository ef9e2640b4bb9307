#include "kernels/build/builder.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "kernels/build/build_flags.h"
#include "kernels/build/build_headers.h"
#include "kernels/build/compiler_output.h"
#include "kernels/build/compiler_run.h"
#include "kernels/build/elf_symbols.h"
#include "kernels/source/launch.h"
#include "kernels/source/signature.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/core/process.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = std::size_t{1} << 30U;
constexpr std::string_view kMayRead =
    "Only headers beside the source, headers of its git repository, the toolkit's and the system's "
    "may be included: copy it beside the source.";

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

BuildRecord failed(BuildRecord record, std::string error_class, std::string message,
                   std::string hint) {
  record.ok = false;
  record.error_class = std::move(error_class);
  record.hint = std::move(hint);
  if (!message.empty()) record.errors.push_back({"", 0, std::move(message)});
  return record;
}

/// Whether the entry takes what the contract froze. Names do not matter, order and types do. Behind
/// a device-only kernel's own parameters stand the dims of its launch.
bool matches(const std::vector<Parameter>& seen, const BuildRequest& request) {
  const auto& wanted = request.parameters;
  if (seen.size() != wanted.size() && !(request.launch && seen.size() < wanted.size()))
    return false;
  return std::equal(
      seen.begin(), seen.end(), wanted.begin(), [](const Parameter& a, const Parameter& b) {
        const bool pointer = a.kind == ParameterKind::tensor;
        const bool stream = a.kind == ParameterKind::stream;
        return pointer == (b.kind == ParameterKind::tensor) &&
               stream == (b.kind == ParameterKind::stream) && (stream || a.dtype == b.dtype);
      });
}

/// Errors are of the source: its signature, or its launch.
Result<BuildPlan> plan_of(const BuildRequest& request, const Toolchain& toolchain,
                          const fs::path& programs) {
  const auto& text = request.source.text;
  const auto signature = parse_signature(
      text, request.entry, Dialect{request.cuda, request.flags, request.launch.has_value()});
  if (!signature) return signature.error();
  if (!request.parameters.empty() && !matches(signature->parameters, request))
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} takes other parameters than the contract froze", request.entry),
                 "Keep v0's parameter list: same order, same types."};
  const auto header = declaration_header(*signature);
  if (!request.launch) return plan_build(request, toolchain, header);
  const auto line = launch_line(text);
  if (!line) return line.error();
  const auto launch = *line ? **line : *request.launch;
  for (const auto& dims : request.cases)
    if (const auto fits = check_launch(launch, dims); !fits) return fits.error();
  std::vector<std::string> more;
  for (auto i = signature->parameters.size(); i < request.parameters.size(); ++i)
    more.push_back(request.parameters[i].name);
  const auto program = programs.empty() ? programs : programs / "ratchet-nvrtc";
  return plan_device_build(request, toolchain, program, header,
                           launch_stub(launch, *signature, more));
}

/// One compiler run in its folder.
class Compilation {
 public:
  /// What compilers are run with.
  struct Tools {
    std::chrono::seconds deadline;
    WarmCompiler& warm;
    Confinement confinement;
  };

  Compilation(const BuildRequest& request, const Toolchain& toolchain, Tools tools, BuildPlan plan,
              fs::path work)
      : request_(request),
        toolchain_(toolchain),
        tools_(std::move(tools)),
        plan_(std::move(plan)),
        work_(std::move(work)) {}

  /// Errors are ours; what is wrong with the source is in the record.
  Result<BuildRecord> run(BuildRecord record, const CallContext& call) {
    if (const auto written = write_sources(); !written) return written.error();
    const auto ran =
        run_compiler(plan_, work_, tools_.deadline, call.stop(), tools_.warm, tools_.confinement);
    if (!ran) return ran.error();
    const auto* output = &ran->output;
    fast_ = ran->fast;
    if (fast_) {
      record.toolchain = "NVRTC of " + record.toolchain;
      auto command = plan_.fast;
      command.insert(command.end(), plan_.fast_options.begin(), plan_.fast_options.end());
      record.command = shown_command(std::move(command), toolchain_);
    }
    record.build_ms = std::chrono::duration<double, std::milli>(output->elapsed).count();
    const auto text = output->out + "\n" + output->err;
    read_output(text, record);
    if (output->timed_out)
      return failed(std::move(record), "compile_timeout",
                    fmt::format("the compiler ran longer than {} s", tools_.deadline.count()),
                    "Instantiate fewer templates or split the kernel.");
    if (!output->status.clean()) {
      if (text.find(": Permission denied") != std::string::npos)
        return failed(std::move(record), "forbidden_include", "", std::string(kMayRead));
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
  /// Nothing here outlives the build, so nothing waits for the disk.
  Status write_sources() {
    std::error_code failure;
    fs::create_directory(work_ / kGeneratedFolder, failure);
    if (!request_.source.folder.empty())
      fs::create_directory_symlink(fs::absolute(request_.source.folder, failure),
                                   work_ / kBesideLink, failure);
    const std::pair<fs::path, std::string> files[] = {
        {fs::path(kGeneratedFolder) / "solve.h", plan_.header},
        {kExportsFile, exports_of(request_.entry)},
        {kStubFile, plan_.stub},
        {kImageSource, image_source()},
        {plan_.file_name, request_.source.text}};
    for (const auto& [name, text] : files)
      if (!(std::ofstream(work_ / name, std::ios::binary) << text << std::flush))
        return Error{ErrorCode::unavailable,
                     fmt::format("{} cannot be written", (work_ / name).string()),
                     "Check that the state directory can be written."};
    return {};
  }

  void read_output(const std::string& text, BuildRecord& record) const {
    auto output = parse_compiler_output(text);
    record.warnings = std::move(output.warnings);
    record.warnings.insert(record.warnings.end(), plan_.notes.begin(), plan_.notes.end());
    record.errors = std::move(output.errors);
    for (auto* list : {&record.warnings, &record.errors})
      for (auto& diagnostic : *list) diagnostic.file = shown_file(diagnostic.file);
    record.registers = output.registers;
    record.shared_bytes = output.shared_bytes;
    record.stack_bytes = output.stack_bytes;
    record.spill_bytes = output.spill_bytes;
  }

  /// Headers beside the source are named as the source names them.
  static std::string shown_file(const std::string& file) {
    const auto prefix = std::string(kBesideLink) + "/";
    return file.starts_with(prefix) ? file.substr(prefix.size()) : file;
  }

  static std::string tail(const std::string& text) {
    return text.size() > kMaxDiagnosticText ? text.substr(text.size() - kMaxDiagnosticText) : text;
  }

  /// Looks at what was built before it is trusted with a name.
  Result<BuildRecord> inspect(BuildRecord record) {
    // NVRTC is only given sources that read nothing but the toolkit.
    const auto rule = fast_ ? Result<std::string>("library.so: ") : read_file(work_ / "headers.d");
    if (!rule) return rule.error();
    auto headers = headers_of(*rule, work_, request_.source, toolchain_);
    if (headers.intruder)
      return failed(std::move(record), "forbidden_include",
                    fmt::format("the source includes {}", shown_file(*headers.intruder)),
                    std::string(kMayRead));
    headers_ = std::move(headers.local);
    auto library = read_file(work_ / "library.so", kLargestFile);
    if (!library) return library.error();
    library_ = *std::move(library);
    const auto symbols = dynamic_symbols(library_);
    if (!symbols) return symbols.error();
    if (std::ranges::find(symbols->exported, request_.entry) == symbols->exported.end())
      return failed(std::move(record), "missing_entry",
                    fmt::format("the library does not export {}", request_.entry),
                    fmt::format("Define {0} in the source itself, outside namespaces and with the "
                                "types of its declaration: what was compiled has at most a C++ "
                                "(mangled) function of that name.",
                                request_.entry));
    const auto forbidden = forbidden_symbols(symbols->imported, request_.cuda, plan_.libraries);
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
  Tools tools_;
  BuildPlan plan_;
  fs::path work_;
  bool fast_ = false;
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
  request.launch = contract.launch;
  for (const auto& one : contract.cases) request.cases.push_back(one.dims);
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

Confinement Builder::confinement(const Source& source) const {
  const auto program = options_.programs / "ratchet-confine";
  std::error_code none;
  if (options_.programs.empty() || !fs::exists(program, none)) return {};
  auto readable = readable_by_compilers(source, toolchain());
  readable.push_back((options_.programs / "ratchet-nvrtc").string());
  return {program, std::move(readable)};
}

Result<BuildRecord> Builder::build(const BuildRequest& request, const CallContext& call) const {
  if (const auto ready = check_tools(request, toolchain()); !ready) return ready.error();
  BuildRecord record;
  record.source_digest = sha256_hex(request.source.text);
  auto plan = plan_of(request, toolchain(), options_.programs);
  if (!plan) {
    const bool launch = plan.error().message.starts_with("launch:");
    return failed(std::move(record), launch ? "launch" : "signature", plan.error().message,
                  plan.error().hint);
  }
  record.toolchain = plan->compiler;
  record.command = shown_command(plan->arguments, toolchain());
  const auto key = request_key(*plan, request);
  if (auto found = cache_.find(key)) return *std::move(found);
  auto work = cache_.make_work_folder();
  if (!work) return work.error();
  const WorkFolder folder(*std::move(work));
  Compilation compilation(request, toolchain(),
                          {options_.deadline, found_->warm, confinement(request.source)},
                          *std::move(plan), folder.path());
  auto built = compilation.run(std::move(record), call);
  if (!built || !built->ok) return built;
  built->build_key = BuildCache::build_key(key, compilation.headers());
  return cache_.publish(key, compilation.headers(), *built, compilation.library());
}

Result<fs::path> Builder::path_of(const std::string& build_key) const {
  return cache_.path_of(build_key);
}

}  // namespace ratchet
