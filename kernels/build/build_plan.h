#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/build/toolchain.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// One source to be made into a shared library.
struct BuildRequest {
  Source source;
  bool cuda = false;     ///< nvcc; else g++
  bool cutlass = false;  ///< needs the CUTLASS headers
  std::string entry = "solve";
  std::string arch = "native";        ///< "sm_90a", or "native" on the host
  std::vector<std::string> flags;     ///< extra; see build_flags.h
  std::vector<Parameter> parameters;  ///< what the entry must take; empty: not checked
  std::optional<Launch> launch;       ///< device-only source; its own `// launch:` line wins
  std::vector<Dims> cases;            ///< what a launch must be possible for
};

// Names inside the folder that a compiler runs in. The source's own folder appears as a link there:
// whatever it is called, no shell ever sees it.
inline constexpr const char* kBesideLink = "beside";
inline constexpr const char* kGeneratedFolder = "generated";  ///< holds solve.h
inline constexpr const char* kExportsFile = "exports.map";
inline constexpr const char* kStubFile = "stub.cpp";
inline constexpr const char* kImageSource = "image.s";
inline constexpr const char* kCubinFile = "kernel.cubin";

/// What one run of a compiler is told.
struct BuildPlan {
  std::string file_name;                  ///< of the source in the work folder
  std::string header;                     ///< the generated solve.h
  std::vector<std::string> arguments;     ///< argv
  std::vector<std::string> check;         ///< argv that compiles the device code alone; empty: none
  std::vector<std::string> fast;          ///< argv of ratchet-nvrtc, tried first; empty: none
  std::vector<std::string> fast_options;  ///< of NVRTC
  std::vector<std::string> beside;        ///< argv that `finish` needs too; empty: none
  std::vector<std::vector<std::string>> finish;  ///< argvs that make the library of it
  std::string stub;                              ///< source of a device-only kernel's host function
  std::vector<std::string> libraries;            ///< CUDA libraries that the result may call into
  std::vector<Diagnostic> notes;                 ///< what was added because the source needs it
  std::string compiler;                          ///< "g++ 12.2.0"
};

/// Adds what the source needs without saying so: its CUDA libraries, C++20, the exact architecture.
/// `header` declares the entry. Reads the headers beside the source. Thread-safe.
[[nodiscard]] BuildPlan plan_build(const BuildRequest& request, const Toolchain& toolchain,
                                   std::string header);

/// The same for device-only code: NVRTC where it is found (`nvrtc_program` runs it) and the source
/// reads no headers but the toolkit's, nvcc otherwise, and around the result a host function that
/// launches it. `stub`: see launch.h.
[[nodiscard]] BuildPlan plan_device_build(const BuildRequest& request, const Toolchain& toolchain,
                                          const std::filesystem::path& nvrtc_program,
                                          std::string header, std::string stub);

/// The linker's list of what may be seen from outside: the entry. All else that it does not use
/// (a `main` for tests, say) is dropped with what it called.
[[nodiscard]] std::string exports_of(const std::string& entry);

/// One of the plan's commands as people should see it: no folders of this machine.
[[nodiscard]] std::string shown_command(std::vector<std::string> arguments,
                                        const Toolchain& toolchain);

/// A hash of everything but the local headers that decides about the result.
[[nodiscard]] std::string request_key(const BuildPlan& plan, const BuildRequest& request);

}  // namespace ratchet
