#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/build/toolchain.h"
#include "server/core/result.h"

namespace ratchet {

/// What a disassembler printed.
struct Listing {
  std::string program;  ///< "nvdisasm 13.0.85"
  std::string text;
};

// Runs disassemblers on binaries that were built from untrusted sources: in a private folder, with
// a minimal environment, a deadline, and limits on memory and output. Thread-safe.
// Errors: `unavailable` when the program is missing (the hint says where it comes from) or fails,
// `too_large`, `timed_out` when `stop` asked for the end.

/// The GPU code of a shared library: by nvdisasm with source lines where it is found beside
/// cuobjdump, else by cuobjdump alone.
[[nodiscard]] Result<Listing> sass_of_library(const std::filesystem::path& library,
                                              const Toolchain& toolchain,
                                              const std::stop_token& stop);

/// The same for GPU code in files of its own, as Triton's cache holds it.
[[nodiscard]] Result<Listing> sass_of_cubins(std::span<const std::filesystem::path> cubins,
                                             const Toolchain& toolchain,
                                             const std::stop_token& stop);

/// The GPU code of a shared library itself: one cubin an entry.
[[nodiscard]] Result<std::vector<std::string>> cubins_of_library(
    const std::filesystem::path& library, const Toolchain& toolchain, const std::stop_token& stop);

/// Code of the host, by objdump.
[[nodiscard]] Result<Listing> host_code_of(const std::filesystem::path& library,
                                           const Toolchain& toolchain, const std::stop_token& stop);

/// PTX that a library carries beside its code. Errors: `not_found` when it has none.
[[nodiscard]] Result<Listing> ptx_of_library(const std::filesystem::path& library,
                                             const Toolchain& toolchain,
                                             const std::stop_token& stop);

}  // namespace ratchet
