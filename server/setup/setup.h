#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/core/result.h"

// `ratchet setup`: puts this server into the configuration of an MCP client, and takes it out.

namespace ratchet::setup {

struct Options {
  std::string client;            ///< claude, codex, cursor or vscode
  std::string name = "ratchet";  ///< of the entry
  bool print = false;            ///< only print the entry
  bool undo = false;
  std::filesystem::path program;    ///< the server
  std::vector<std::string> roots;   ///< empty: the home folder, for VS Code the workspace
  std::string python;               ///< a path, or a name in PATH
  std::filesystem::path state_dir;  ///< keeps what was put where
  bool keep_state_dir = false;      ///< the entry names it, too
};

struct Report {
  std::string client;
  std::string file;
  std::string done;  ///< printed, added, changed, unchanged, removed or gone
  std::string entry;
  std::vector<std::string> command;
  int tools = 0;
  std::string client_says;
  std::vector<std::string> warnings;

  static constexpr void fields(auto&& visit) {
    using R = Report;
    visit(required<&R::client>(), required<&R::file>(),
          required<&R::done>("printed, added, changed, unchanged, removed, or gone: somebody else "
                             "had removed it."),
          optional<&R::entry>("As text of the file."), optional<&R::command>("That was tried."),
          optional<&R::tools>("That the server offered when it was tried."),
          optional<&R::client_says>("What the client's own program says, if it is in PATH."),
          optional<&R::warnings>());
  }
};

/// Adds the entry once the server has answered `initialize` and `tools/list`, or undoes that.
///
/// The file keeps every byte outside the entry, its mode, and, if it is a symbolic link, that. If
/// the client's own program then does not accept the entry, it is taken out again.
/// Errors: `invalid_argument` for a file that cannot be read, with line and column; `conflict` for
/// an entry of the same name that setup did not write; `not_permitted` and `unavailable` for a file
/// that cannot be written; `not_found` when there is nothing to undo. None changes the file.
[[nodiscard]] Result<Report> run(const Options& options);

/// For people.
[[nodiscard]] std::string text_of(const Report& report, const Options& options);

}  // namespace ratchet::setup
