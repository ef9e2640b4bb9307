#pragma once

#include <filesystem>

namespace ratchet::test {

/// The root of this repository, as the build was configured.
std::filesystem::path source_dir();

/// The build tree: programs in bin/, their data in share/ratchet.
std::filesystem::path build_dir();

}  // namespace ratchet::test
