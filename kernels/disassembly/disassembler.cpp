#include "kernels/disassembly/disassembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/process/confinement.h"
#include "kernels/process/private_folder.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kDeadline{60};
constexpr std::size_t kMostText = std::size_t{64} << 20U;
constexpr std::size_t kMemoryLimit = std::size_t{8} << 30U;
constexpr std::size_t kLargestFile = std::size_t{512} << 20U;

Error missing(const char* program) {
  return {
      ErrorCode::unavailable, fmt::format("{} was not found", program),
      "The CUDA toolkit has it (packages cuda-cuobjdump and cuda-nvdisasm), and Triton's Python "
      "package too; check_env lists what was found."};
}

/// What the program prints when it is called with these arguments, which name `file`, an untrusted
/// one.
Result<std::string> output_of(const FoundProgram& program, std::vector<std::string> arguments,
                              const fs::path& file, const fs::path& folder,
                              const Toolchain& toolchain, const std::stop_token& stop) {
  ProcessSpec spec;
  spec.argv = std::move(arguments);
  spec.argv.insert(spec.argv.begin(), program.path.string());
  spec.folder = folder;
  // cuobjdump looks for its helper beside itself and in PATH.
  spec.environment = {"PATH=" + program.path.parent_path().string() + ":/usr/bin:/bin", "LC_ALL=C",
                      "TMPDIR=" + folder.string()};
  spec.address_space_bytes = kMemoryLimit;
  spec.file_size_bytes = kLargestFile;
  const Confinement walls{toolchain.confine,
                          "reader",
                          {program.path.parent_path().parent_path().string(), file.string()}};
  auto run = run_confined(spec, walls, kDeadline, stop, kMostText);
  if (!run) return run.error();
  const auto name = program.path.filename().string();
  if (run->truncated)
    return Error{ErrorCode::too_large,
                 fmt::format("{} prints more than {} MiB", name, kMostText >> 20U),
                 "Instantiate fewer templates."};
  if (run->timed_out || !run->status.clean())
    return unavailable(
        fmt::format("{} failed ({}): {}", name, run->ending(), run->err.substr(0, 300)));
  return std::move(run->out);
}

std::string shown(const FoundProgram& program) {
  return program.path.filename().string() + " " + program.version;
}

std::vector<fs::path> cubins_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ".cubin") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

}  // namespace

Result<Listing> sass_of_cubins(std::span<const fs::path> cubins, const Toolchain& toolchain,
                               const std::stop_token& stop) {
  const auto& program = toolchain.nvdisasm ? toolchain.nvdisasm : toolchain.cuobjdump;
  if (!program) return missing("nvdisasm");
  auto folder = PrivateFolder::make();
  if (!folder) return folder.error();
  Listing listing{shown(*program), ""};
  for (const auto& cubin : cubins) {
    std::vector<std::string> arguments{"-sass"};
    if (toolchain.nvdisasm) arguments = {"-c", "-g"};
    arguments.push_back(cubin.string());
    auto text = output_of(*program, arguments, cubin, folder->path(), toolchain, stop);
    if (!text) return text.error();
    listing.text += *text;
    if (listing.text.size() > kMostText)
      return Error{ErrorCode::too_large, "the kernel's variants have too much code"};
  }
  return listing;
}

Result<Listing> sass_of_library(const fs::path& library, const Toolchain& toolchain,
                                const std::stop_token& stop) {
  if (!toolchain.cuobjdump) return missing("cuobjdump");
  auto folder = PrivateFolder::make();
  if (!folder) return folder.error();
  if (toolchain.nvdisasm) {
    auto extracted = output_of(*toolchain.cuobjdump, {"-xelf", "all", library.string()}, library,
                               folder->path(), toolchain, stop);
    if (!extracted) return extracted.error();
    return sass_of_cubins(cubins_in(folder->path()), toolchain, stop);
  }
  auto text = output_of(*toolchain.cuobjdump, {"-sass", library.string()}, library, folder->path(),
                        toolchain, stop);
  if (!text) return text.error();
  return Listing{shown(*toolchain.cuobjdump), *std::move(text)};
}

Result<std::vector<std::string>> cubins_of_library(const fs::path& library,
                                                   const Toolchain& toolchain,
                                                   const std::stop_token& stop) {
  if (!toolchain.cuobjdump) return missing("cuobjdump");
  auto folder = PrivateFolder::make();
  if (!folder) return folder.error();
  auto extracted = output_of(*toolchain.cuobjdump, {"-xelf", "all", library.string()}, library,
                             folder->path(), toolchain, stop);
  if (!extracted) return extracted.error();
  std::vector<std::string> codes;
  for (const auto& cubin : cubins_in(folder->path())) {
    auto code = read_file(cubin, kLargestFile);
    if (!code) return code.error();
    codes.push_back(*std::move(code));
  }
  return codes;
}

Result<Listing> amd_code_of(const fs::path& library, const Toolchain& toolchain,
                            const std::stop_token& stop) {
  if (!toolchain.hip) return hip_missing();
  auto folder = PrivateFolder::make();
  if (!folder) return folder.error();
  const auto program = [&](const char* name) {
    return FoundProgram{toolchain.hip->llvm / name, toolchain.hip->compiler.version};
  };
  const auto run = [&](const char* name, const fs::path& file, std::vector<std::string> arguments) {
    return output_of(program(name), std::move(arguments), file, folder->path(), toolchain, stop);
  };
  const auto bundle = (folder->path() / "bundle").string();
  const auto code = (folder->path() / "code.o").string();
  auto done = run("llvm-objcopy", library,
                  {"--dump-section=.hip_fatbin=" + bundle, library.string(),
                   (folder->path() / "rest.so").string()});
  if (!done) return done.error();
  auto targets = run("clang-offload-bundler", bundle, {"--list", "--type=o", "--input=" + bundle});
  if (!targets) return targets.error();
  const auto begin = targets->find("hip");
  if (begin == std::string::npos) return not_found("the library has no code for AMD GPUs");
  const auto target = targets->substr(begin, targets->find('\n', begin) - begin);
  done = run(
      "clang-offload-bundler", bundle,
      {"--unbundle", "--type=o", "--targets=" + target, "--input=" + bundle, "--output=" + code});
  if (!done) return done.error();
  auto text = run("llvm-objdump", code, {"-d", "-l", code});
  if (!text) return text.error();
  return Listing{shown(program("llvm-objdump")), *std::move(text)};
}

Result<Listing> host_code_of(const fs::path& library, const Toolchain& toolchain,
                             const std::stop_token& stop) {
  if (!toolchain.objdump)
    return unavailable("objdump was not found",
                       "Install binutils; check_env lists what was found.");
  auto folder = PrivateFolder::make();
  if (!folder) return folder.error();
  auto text =
      output_of(*toolchain.objdump, {"-d", "-j", ".text", "--no-show-raw-insn", library.string()},
                library, folder->path(), toolchain, stop);
  if (!text) return text.error();
  return Listing{shown(*toolchain.objdump), *std::move(text)};
}

Result<Listing> ptx_of_library(const fs::path& library, const Toolchain& toolchain,
                               const std::stop_token& stop) {
  if (!toolchain.cuobjdump) return missing("cuobjdump");
  auto folder = PrivateFolder::make();
  if (!folder) return folder.error();
  auto text = output_of(*toolchain.cuobjdump, {"-ptx", library.string()}, library, folder->path(),
                        toolchain, stop);
  if (!text) return text.error();
  if (text->find(".entry") == std::string::npos)
    return not_found("the binary has no PTX: it is built only for its exact architecture",
                     "Ask for kind sass.");
  return Listing{shown(*toolchain.cuobjdump), *std::move(text)};
}

}  // namespace ratchet
