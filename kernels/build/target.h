#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"

namespace ratchet {

// What a kernel is written in and what it is built for. Pure and thread-safe. Errors:
// `invalid_argument` naming the field and the value seen.

/// The implementation that `wanted` (with the packages' aliases, or `auto`) means for a kernel
/// file. `auto`: .cu → cuda-cpp, .py → triton, .cpp/.cc/.cxx → host-cpp. `cuda`, `cute`, `cpp` too
/// resolve by suffix. A language that contradicts the suffix is an error.
[[nodiscard]] Result<Implementation> resolve_implementation(
    const std::optional<std::string>& wanted, std::string_view file_name);

/// The device kind that an implementation runs on.
[[nodiscard]] DeviceKind device_kind_of(Implementation implementation);

/// The kind of a reference by its suffix: .py, .cu, .cpp.
[[nodiscard]] Result<ReferenceKind> reference_kind_of(std::string_view file_name);

/// Target of the build: the caller's `arch`, else the device's; "sm_90a", "sm_100a" … when `source`
/// uses instructions that exist only there (wgmma, setmaxnreg, tcgen05 …). "native" on the host.
[[nodiscard]] Result<std::string> resolve_arch(const std::optional<std::string>& wanted,
                                               const DeviceInfo& device, std::string_view source);

/// The packages' names for baselines (eager, compile, torch.compile, flash-infer, all, none …) as
/// ours: pytorch-eager, torch-compile, flashinfer; and vendor, the call of the vendor's library
/// that a shipped problem brings. v0 and parent are compared in any case. No name twice.
[[nodiscard]] Result<std::vector<std::string>> resolve_baselines(
    const std::vector<std::string>& wanted);

/// A name for run ids: lower-case letters, digits and underscores of the file's stem; "kernel" when
/// none is left.
[[nodiscard]] std::string kernel_name_of(std::string_view file_name);

}  // namespace ratchet
