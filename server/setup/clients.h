#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/fields.h"
#include "server/core/result.h"
#include "server/setup/config_edit.h"

namespace ratchet::setup {

/// An MCP client that `ratchet setup` can connect.
struct McpClient {
  std::string_view word;     ///< as on the command line
  std::string_view name;     ///< as its makers write it
  std::string_view program;  ///< that can say whether it is connected; empty: none can
  Format format;
  bool of_project = false;  ///< its file belongs to the current folder, not to the user
};

[[nodiscard]] const std::vector<McpClient>& all_clients();
[[nodiscard]] Result<McpClient> client_named(const std::string& word);

/// The client's file, which need not exist. Errors: `unavailable` without a home folder.
[[nodiscard]] Result<std::filesystem::path> config_file_of(const McpClient& client);

/// The entry for a command. Time-outs: a tool answers after at most an hour, the longest `wait_s`.
[[nodiscard]] Json entry_for(const McpClient& client, const std::vector<std::string>& command);

/// What the client's own program says about the server `name`.
struct Opinion {
  bool asked = false;      ///< the program is in PATH
  bool connected = false;  ///< it connects; for Codex, which does not try: it reads the entry
  std::string says;        ///< when it is not
};
[[nodiscard]] Opinion opinion_of(const McpClient& client, const std::string& name);

}  // namespace ratchet::setup
