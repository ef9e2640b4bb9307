#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/build/toolchain.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// One source to build into a shared library.
struct BuildRequest {
  Source source;
  Language language = Language::cpp;  ///< compiled by g++, nvcc or hipcc
  bool cutlass = false;               ///< requires the CUTLASS headers
  std::string entry = "solve";
  std::string arch = "native";        ///< "sm_90a", "gfx90a", or "native" on the host
  std::vector<std::string> flags;     ///< extra; see build_flags.h
  std::vector<Parameter> parameters;  ///< expected parameters of the entry; empty: not checked
  std::optional<Launch> launch;  ///< device-only source; its own `// launch:` line takes precedence
  std::vector<Dims> cases;       ///< sizes for which the launch must be valid
  bool fewer_blocks = false;     ///< see fewer_blocks.h; of CUDA sources with a host function
};

// Names inside the folder the compiler runs in. The source's own folder appears there as a link, so
// its name never reaches a shell.
inline constexpr const char* kBesideLink = "beside";
inline constexpr const char* kGeneratedFolder = "generated";  ///< holds solve.h
inline constexpr const char* kExportsFile = "exports.map";
inline constexpr const char* kStubFile = "stub.cpp";
inline constexpr const char* kImageSource = "image.s";
inline constexpr const char* kCubinFile = "kernel.cubin";

/// The commands of one build.
struct BuildPlan {
  std::string file_name;                  ///< of the source, inside the work folder
  std::string header;                     ///< the generated solve.h
  std::vector<std::string> arguments;     ///< argv
  std::vector<std::string> environment;   ///< "NAME=value", beside the usual
  std::vector<std::string> check;         ///< argv that compiles only the device code; empty: none
  std::vector<std::string> fast;          ///< argv of ratchet-nvrtc, tried first; empty: none
  std::vector<std::string> fast_options;  ///< of NVRTC
  std::vector<std::string> beside;        ///< argv whose output `finish` also needs; empty: none
  std::vector<std::vector<std::string>> finish;  ///< argvs that make the library from it
  std::string stub;                              ///< source of a device-only kernel's host function
  std::vector<std::string> libraries;            ///< CUDA libraries that the result may call
  std::vector<Diagnostic> notes;                 ///< what was added because the source needs it
  std::string compiler;                          ///< "g++ 12.2.0"
};

/// The source's name inside that folder: its own, if that is readable in messages and cannot be an
/// option or a path, else "kernel.cu", …
[[nodiscard]] std::string name_to_compile(const Source& source, Language language);

/// Adds what the source needs implicitly: its CUDA libraries, C++20, the exact architecture. The
/// toolchain has the language's compiler.
/// `header` declares the entry. Reads the headers beside the source. Thread-safe.
[[nodiscard]] BuildPlan plan_build(const BuildRequest& request, const Toolchain& toolchain,
                                   std::string header);

/// The same for device-only code: NVRTC if it is found (`nvrtc_program` runs it) and the source
/// reads only toolkit headers, else nvcc; plus a host function around the result that launches it.
/// `stub`: see launch.h.
[[nodiscard]] BuildPlan plan_device_build(const BuildRequest& request, const Toolchain& toolchain,
                                          const std::filesystem::path& nvrtc_program,
                                          std::string header, std::string stub);

/// The linker's list of visible symbols: the entry alone. Everything else the entry does not use
/// (such as a `main` for tests) is dropped along with its callees.
[[nodiscard]] std::string exports_of(const std::string& entry);

/// A command of the plan for display, without this machine's folders.
[[nodiscard]] std::string shown_command(std::vector<std::string> arguments,
                                        const Toolchain& toolchain);

/// A hash of everything that determines the result, except the local headers.
[[nodiscard]] std::string request_key(const BuildPlan& plan, const BuildRequest& request);

}  // namespace ratchet
