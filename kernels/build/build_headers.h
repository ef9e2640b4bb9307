#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/build/build_cache.h"
#include "kernels/build/toolchain.h"
#include "server/facts/contract.h"

namespace ratchet {

/// The local headers a build read. `intruder` is a file it was not allowed to read.
struct HeaderList {
  std::vector<Dependency> local;
  std::optional<std::string> intruder;
};

/// Whether a source may include the file `path` (canonical): any file below its folder, or a file
/// with a header's suffix in the same git repository and the same allowed root.
[[nodiscard]] bool may_include(const std::filesystem::path& path, const Source& source);

/// Classifies the files of a compiler's make rule (-MD): those of the work folder, the toolkit and
/// the system are ignored, those that `may_include` allows are local, any other is an intruder.
/// Reads the local ones; thread-safe.
[[nodiscard]] HeaderList headers_of(std::string_view rule, const std::filesystem::path& work,
                                    const Source& source, const Toolchain& toolchain);

/// Files and folders that compilers need for this source: the system's programs and headers, the
/// toolkit, CUTLASS, the source's folder, and those headers of its repository that it includes. No
/// other user files.
[[nodiscard]] std::vector<std::string> readable_by_compilers(const Source& source,
                                                             const Toolchain& toolchain);

}  // namespace ratchet
