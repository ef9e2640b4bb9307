#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace ratchet {

/// The node in `devices` of the GPU with this UUID, as the driver lists its GPUs below `listed`;
/// empty if it lists none with it, or two, or if there is no such node.
[[nodiscard]] std::optional<std::filesystem::path> gpu_node(
    std::string_view uuid, const std::filesystem::path& listed = "/proc/driver/nvidia/gpus",
    const std::filesystem::path& devices = "/dev");

}  // namespace ratchet
