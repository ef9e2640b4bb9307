#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/environment.h"

namespace ratchet {

/// A helper program that was found and reported its version.
struct FoundProgram {
  std::filesystem::path path;
  std::string version;  ///< "12.2.0", "13.0.88"
};

/// What builds code of AMD GPUs.
struct HipTools {
  FoundProgram compiler;       ///< hipcc, with the version of its clang
  std::filesystem::path llvm;  ///< folder with llvm-objdump, llvm-objcopy and clang-offload-bundler
  std::vector<std::filesystem::path> include_dirs;  ///< where it finds <...> headers
};

/// The compilers, profilers and Python of this machine. A plain value: find once, pass by
/// reference.
struct Toolchain {
  std::optional<FoundProgram> host_compiler;  ///< g++
  std::optional<FoundProgram> nvcc;
  std::optional<HipTools> hip;
  std::optional<FoundProgram> ncu;
  std::optional<FoundProgram> cuobjdump;  ///< from binutils, for host code
  std::optional<FoundProgram> nvdisasm;
  std::optional<FoundProgram> objdump;    ///< of binutils, for code of the host
  std::optional<FoundProgram> sanitizer;  ///< compute-sanitizer
  std::optional<FoundProgram> python;
  std::map<std::string, std::string> python_packages;  ///< name → version: numpy, torch, triton, …
  std::optional<std::string> cutlass_include;          ///< folder that holds cutlass/cutlass.h
  std::vector<std::filesystem::path> include_dirs;     ///< where g++ finds <...> headers
  std::filesystem::path cuda_home;                     ///< root of the toolkit; empty without nvcc
  std::optional<std::filesystem::path> nvrtc;          ///< libnvrtc.so of the toolkit
  std::filesystem::path confine;  ///< ratchet-confine, which runs these; empty: without walls
};

/// Searches PATH, then CUDA_HOME and CUDA_PATH, then /usr/local/cuda; for CUTLASS: CUTLASS_PATH,
/// CUTLASS_ROOT, CUTLASS_HOME, /usr/local/cutlass, /opt/cutlass. One Python process lists its
/// packages without importing them. Thread-safe; starts programs (about a second in all). Anything
/// absent stays empty; that is no error.
[[nodiscard]] Toolchain find_toolchain(const std::string& python, const std::stop_token& stop = {});

/// The error of what needs hipcc, where `Toolchain::hip` is empty.
[[nodiscard]] Error hip_missing();

/// One row per tool and package, for `Environment::tools`.
[[nodiscard]] std::vector<ToolState> tool_states(const Toolchain& toolchain);

/// Readiness of each implementation. `cuda_device`: whether a usable GPU is present.
[[nodiscard]] std::vector<ImplementationState> implementation_states(const Toolchain& toolchain,
                                                                     bool cuda_device);

}  // namespace ratchet
