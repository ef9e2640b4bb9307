#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "kernels/labs/lab_messages.h"
#include "server/core/result.h"

namespace ratchet {

/// The files that the sources in a request need from their folders: local headers, and modules of
/// Python. By folder. Reads files; at most 256 of a source and 8 MiB.
[[nodiscard]] std::map<std::string, lab_wire::Files> files_of(const Json& body);

/// Writes them below `place` and makes the sources in the body refer to them. A source whose folder
/// did not come along has none. Errors: `invalid_argument` for a path that leads out of its folder,
/// `unavailable` where nothing can be written.
[[nodiscard]] Status unpack(const std::map<std::string, lab_wire::Files>& files,
                            const std::filesystem::path& place, Json& body);

}  // namespace ratchet
