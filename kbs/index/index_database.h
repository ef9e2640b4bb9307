#pragma once

#include <filesystem>

#include "server/core/result.h"
#include "server/sqlite/sqlite.h"

namespace ratchet::kbs {

using sqlite::Database;
using sqlite::OpenMode;
using sqlite::Statement;

/// Opens a file of the knowledge index, with the tokenizer and text functions of its schema
/// registered: a finished one (`immutable`) or one in the making (`scratch`).
/// Errors: `not_found` without the file (immutable); those of server/sqlite.
Result<Database> open_index(const std::filesystem::path& path, OpenMode mode);

}  // namespace ratchet::kbs
