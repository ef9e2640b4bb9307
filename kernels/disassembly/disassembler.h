#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/build/toolchain.h"
#include "server/core/result.h"

namespace ratchet {

/// Output of a disassembler.
struct Listing {
  std::string program;  ///< "nvdisasm 13.0.85"
  std::string text;
};

// Runs disassemblers on binaries built from untrusted sources: in a private folder, with a minimal
// environment, a deadline, and limits on memory and output. Thread-safe. Errors: `unavailable` if
// the program is missing (the hint says where to get it) or fails, `too_large`, `timed_out` when
// `stop` was requested.

/// The GPU code of a shared library: by nvdisasm with source lines if it is found beside cuobjdump,
/// else by cuobjdump alone.
[[nodiscard]] Result<Listing> sass_of_library(const std::filesystem::path& library,
                                              const Toolchain& toolchain,
                                              const std::stop_token& stop);

/// The same for separate files of GPU code, as in Triton's cache.
[[nodiscard]] Result<Listing> sass_of_cubins(std::span<const std::filesystem::path> cubins,
                                             const Toolchain& toolchain,
                                             const std::stop_token& stop);

/// The binary GPU code of a shared library, one cubin per entry.
[[nodiscard]] Result<std::vector<std::string>> cubins_of_library(
    const std::filesystem::path& library, const Toolchain& toolchain, const std::stop_token& stop);

/// The code for AMD GPUs of a shared library that hipcc built for one target, by the llvm-objdump
/// of its clang, with source lines.
[[nodiscard]] Result<Listing> amd_code_of(const std::filesystem::path& library,
                                          const Toolchain& toolchain, const std::stop_token& stop);

/// Host code, by objdump.
[[nodiscard]] Result<Listing> host_code_of(const std::filesystem::path& library,
                                           const Toolchain& toolchain, const std::stop_token& stop);

/// PTX that a library contains beside its code. Errors: `not_found` if there is none.
[[nodiscard]] Result<Listing> ptx_of_library(const std::filesystem::path& library,
                                             const Toolchain& toolchain,
                                             const std::stop_token& stop);

}  // namespace ratchet
