#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"

namespace ratchet {

// The language of a kernel and the target of its build. Pure and thread-safe. Errors:
// `invalid_argument` naming the field and the value seen.

/// The implementation that `wanted` (including the packages' aliases, or `auto`) means for a kernel
/// file. `auto`: .cu → cuda-cpp, .py → triton, .cpp/.cc/.cxx → host-cpp, .hip → hip-cpp. `cuda`
/// with a .py file is triton, `cpp` or `cute` with a .cu file cuda-cpp. A language that contradicts
/// the suffix is an error.
[[nodiscard]] Result<Implementation> resolve_implementation(
    const std::optional<std::string>& wanted, std::string_view file_name);

/// The implementation that a name or an alias other than `auto` means where there is no file yet.
[[nodiscard]] Result<Implementation> implementation_named(const std::string& name);

/// What `resolve_implementation` says, for a run. Error: `unavailable` for one whose kernels are
/// only built.
[[nodiscard]] Result<Implementation> implementation_of_run(const std::optional<std::string>& wanted,
                                                           std::string_view file_name);

/// The device kind that an implementation runs on; of one that is only built, what it resembles.
[[nodiscard]] DeviceKind device_kind_of(Implementation implementation);

/// The kind of a reference, from its suffix: .py, .cu, .cpp.
[[nodiscard]] Result<ReferenceKind> reference_kind_of(std::string_view file_name);

/// The build's target: the caller's `arch`, else the device's; "sm_90a", "sm_100a" … if `source`
/// uses instructions that exist only there (wgmma, setmaxnreg, tcgen05 …). "native" on the host.
[[nodiscard]] Result<std::string> resolve_arch(const std::optional<std::string>& wanted,
                                               const DeviceInfo& device, std::string_view source);

/// The target of a HIP build, which nothing here could choose: "gfx90a", "gfx908:xnack-" ….
[[nodiscard]] Result<std::string> resolve_hip_arch(const std::optional<std::string>& wanted);

/// Maps the packages' names for baselines (eager, compile, torch.compile, flash-infer, all, none …)
/// to ours: pytorch-eager, torch-compile, flashinfer, and vendor (the vendor library call that a
/// shipped problem provides). v0 and parent are always compared. No name twice.
[[nodiscard]] Result<std::vector<std::string>> resolve_baselines(
    const std::vector<std::string>& wanted);

/// A name for run ids: lower-case letters, digits and underscores of the file's stem; "kernel" if
/// none remain.
[[nodiscard]] std::string kernel_name_of(std::string_view file_name);

}  // namespace ratchet
