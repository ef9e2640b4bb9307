#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"

namespace ratchet::setup {

/// A table's header or a key with its value, at the top of a TOML document.
struct TomlStatement {
  enum class Kind { table, array_of_tables, value };
  Kind kind = Kind::value;
  std::vector<std::string> path;  ///< from the root: {"mcp_servers", "ratchet", "command"}
  std::size_t begin = 0;          ///< of its line
  std::size_t end = 0;            ///< after its value

  [[nodiscard]] bool within(const std::vector<std::string>& table) const;
};

/// Reads TOML 1.0. Of repeated keys only those outside arrays of tables are refused.
/// Errors: `invalid_argument` with line and column.
[[nodiscard]] Result<std::vector<TomlStatement>> read_toml(std::string_view text);

}  // namespace ratchet::setup
