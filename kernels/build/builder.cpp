#include "kernels/build/builder.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
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
constexpr std::string_view kFewerAtOnce =
    "Leave out flags that make the compiler work on many parts at once.";

BuildRecord failed(BuildRecord record, std::string error_class, std::string message,
                   std::string hint) {
  record.ok = false;
  record.error_class = std::move(error_class);
  record.hint = std::move(hint);
  if (!message.empty()) record.errors.push_back({"", 0, std::move(message)});
  return record;
}

BuildRecord failed(BuildRecord record, std::string error_class, const Error& error) {
  return failed(std::move(record), std::move(error_class), error.message, error.hint);
}

/// Whether the entry has the contract's parameters. Names do not matter, order and types do. The
/// dims of a launch follow a device-only kernel's own parameters.
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

/// The entry's signature, which must match the contract's parameters.
Result<Signature> signature_of(const BuildRequest& request) {
  auto signature =
      parse_signature(request.source.text, request.entry,
                      Dialect{request.language, request.flags, request.launch.has_value()});
  if (request.parameters.empty()) return signature;
  std::string names;
  for (const auto& one : request.parameters) names += (names.empty() ? "" : ", ") + one.name;
  const auto hint = fmt::format(
      "Define extern \"C\" void {} with v0's parameters, in the same order and with the "
      "same types: {}.",
      request.entry, names);
  if (!signature) return invalid_argument(signature.error().message, hint);
  if (!matches(signature->parameters, request))
    return invalid_argument(parameter_difference(request.entry, signature->parameters,
                                                 "the contract", request.parameters),
                            hint);
  return signature;
}

/// How to launch a device-only kernel, valid for all cases; empty for other kernels.
Result<std::optional<Launch>> launch_of(const BuildRequest& request) {
  if (!request.launch) return std::optional<Launch>{};
  auto launch = launch_line(request.source.text);
  if (!launch) return launch;
  if (!*launch) *launch = request.launch;
  for (const auto& dims : request.cases)
    if (const auto fits = check_launch(**launch, dims); !fits) return fits.error();
  return launch;
}

BuildPlan plan_of(const BuildRequest& request, const Toolchain& toolchain, const fs::path& programs,
                  const Signature& signature, const std::optional<Launch>& launch) {
  const auto header = declaration_header(signature, request.language);
  if (!launch) return plan_build(request, toolchain, header);
  std::vector<std::string> more;
  for (auto i = signature.parameters.size(); i < request.parameters.size(); ++i)
    more.push_back(request.parameters[i].name);
  const auto program = programs.empty() ? programs : programs / "ratchet-nvrtc";
  return plan_device_build(request, toolchain, program, header,
                           launch_stub(*launch, signature, more));
}

/// One compiler run in its own folder.
class Compilation {
 public:
  /// How to run compilers.
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

  /// Errors are our failures; errors in the source are in the record.
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
      auto why = output->starved ? FailureClass{std::string(kOutOfMemory), ""}
                                 : classify_failure(text, request_.arch);
      if (output->excess) why = {output->excess->kind, std::string(kFewerAtOnce)};
      if (why.name == kOutOfMemory) why.hint = memory_hint(*output);
      auto message = record.errors.empty() ? last_words(text, *output) : std::string();
      return failed(std::move(record), std::move(why.name), std::move(message),
                    std::move(why.hint));
    }
    return inspect(std::move(record));
  }

  [[nodiscard]] const std::vector<Dependency>& headers() const { return headers_; }
  [[nodiscard]] const std::string& library() const { return library_; }

 private:
  /// Not synced to disk: nothing here outlives the build.
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
      if (auto written = write_unsynced(work_ / name, text); !written) return written;
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

  /// Headers beside the source are shown by the names the source uses.
  static std::string shown_file(const std::string& file) {
    const auto prefix = std::string(kBesideLink) + "/";
    return file.starts_with(prefix) ? file.substr(prefix.size()) : file;
  }

  static std::string last_words(const std::string& text, const ConfinedRun& run) {
    if (run.excess || text.find_first_not_of(" \n") == std::string::npos)
      return (run.excess ? "ended: it " : "ended with ") + run.ending();
    return text.size() > kMaxDiagnosticText ? text.substr(text.size() - kMaxDiagnosticText) : text;
  }

  static std::string memory_hint(const ConfinedRun& run) {
    return fmt::format(
        "The compiler ran out of memory: it may use {} MiB together with what it starts, and each "
        "process {} GiB of address space. Instantiate fewer templates or split the kernel.",
        run.memory_bytes >> 20U, kCompilerAddressSpace >> 30U);
  }

  /// Checks what was built before it is published under a key.
  Result<BuildRecord> inspect(BuildRecord record) {
    // NVRTC only gets sources that read nothing but the toolkit.
    const auto rule = fast_ ? Result<std::string>("library.so: ") : read_file(work_ / "headers.d");
    if (!rule) return rule.error();
    auto headers = headers_of(*rule, work_, request_.source, toolchain_);
    if (headers.intruder)
      return failed(std::move(record), "forbidden_include",
                    fmt::format("the source includes {}", shown_file(*headers.intruder)),
                    std::string(kReadableHeaders));
    headers_ = std::move(headers.local);
    auto library = read_file(work_ / "library.so", kLargestFile);
    if (!library) return library.error();
    library_ = *std::move(library);
    const auto symbols = dynamic_symbols(library_);
    if (!symbols) return symbols.error();
    if (std::ranges::find(symbols->exported, request_.entry) == symbols->exported.end())
      return failed(
          std::move(record), "missing_entry",
          fmt::format("the library does not export {}", request_.entry),
          fmt::format("Define {0} in the source itself, outside namespaces, with the types "
                      "of its declaration: the compiled code has at most a C++ (mangled) "
                      "function of that name.",
                      request_.entry));
    const auto forbidden = forbidden_symbols(symbols->imported, request_.language, plan_.libraries);
    if (!forbidden.empty())
      return failed(std::move(record), "forbidden_symbol",
                    fmt::format("the kernel may not call: {}", fmt::join(forbidden, ", ")),
                    "Kernels may not use files, their own threads (OpenMP is allowed), processes, "
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
  if (request.language == Language::cpp && !toolchain.host_compiler)
    return unavailable("g++ was not found", "Install g++; check_env shows what is there.");
  if (request.language == Language::cuda && !toolchain.nvcc)
    return unavailable("nvcc was not found",
                       "Install the CUDA toolkit or set CUDA_HOME; check_env shows what is there.");
  if (request.language == Language::hip && !toolchain.hip) return hip_missing();
  if (request.cutlass && !toolchain.cutlass_include)
    return unavailable("the CUTLASS headers were not found",
                       "Set CUTLASS_PATH to a checkout of CUTLASS.");
  return check_flags(request.flags, request.language);
}

}  // namespace

BuildRequest kernel_build(const Contract& contract, Source source) {
  BuildRequest request;
  request.source = std::move(source);
  request.language = language_of(contract.implementation);
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
  request.language = language_of(contract.reference_kind);
  request.entry = "reference";
  request.arch = request.language == Language::cuda ? contract.arch : "native";
  return request;
}

Result<Builder> Builder::open(Options options) {
  auto cache = BuildCache::open(options.cache);
  if (!cache) return cache.error();
  return Builder(std::move(options), *std::move(cache));
}

const Toolchain& Builder::toolchain() const {
  std::call_once(found_->once, [this] {
    found_->toolchain = options_.find_toolchain();
    const auto program = options_.programs / "ratchet-confine";
    std::error_code none;
    if (!options_.programs.empty() && fs::exists(program, none))
      found_->toolchain.confine = program;
  });
  return found_->toolchain;
}

Confinement Builder::confinement(const Source& source) const {
  if (toolchain().confine.empty()) return {};
  auto readable = readable_by_compilers(source, toolchain());
  readable.push_back((options_.programs / "ratchet-nvrtc").string());
  return {.program = toolchain().confine, .readable = std::move(readable)};
}

Result<BuildRecord> Builder::build(const BuildRequest& request, const CallContext& call) const {
  if (const auto ready = check_tools(request, toolchain()); !ready) return ready.error();
  BuildRecord record;
  record.source_digest = sha256_hex(request.source.text);
  const auto signature = signature_of(request);
  if (!signature) {
    record = failed(std::move(record), "signature", signature.error());
    record.errors.back().file = request.source.file_name;
    record.errors.back().line = line_of_entry(request.source.text, request.entry);
    return record;
  }
  const auto launch = launch_of(request);
  if (!launch) return failed(std::move(record), "launch", launch.error());
  auto plan = plan_of(request, toolchain(), options_.programs, *signature, *launch);
  record.toolchain = plan.compiler;
  record.command = shown_command(plan.arguments, toolchain());
  const auto key = request_key(plan, request);
  if (auto found = cache_.find(key)) return *std::move(found);
  const auto folder = cache_.make_work_folder();
  if (!folder) return folder.error();
  Compilation compilation(request, toolchain(),
                          {options_.deadline, found_->warm, confinement(request.source)},
                          std::move(plan), folder->path());
  auto built = compilation.run(std::move(record), call);
  if (!built || !built->ok) return built;
  built->build_key = BuildCache::build_key(key, compilation.headers());
  return cache_.publish(key, compilation.headers(), *built, compilation.library());
}

Result<fs::path> Builder::path_of(const std::string& build_key) const {
  return cache_.path_of(build_key);
}

}  // namespace ratchet
