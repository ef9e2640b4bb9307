#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fd.h"
#include "server/core/fields.h"
#include "server/core/process.h"
#include "server/core/result.h"

namespace ratchet::demo {

/// What a tool answered, as any MCP client sees it.
struct ToolReply {
  bool is_error = false;
  Json structured;  ///< null on errors
  std::string text;
};

/// A small MCP client over stdio: starts a server, initializes it and calls its tools, one at a
/// time.
///
/// Thread rule: one thread. Owns the server process and kills it when destroyed.
class Client {
 public:
  /// `done` of `total` in any unit, as the part of the work that is under way counts it.
  using Progress =
      std::function<void(double done, std::optional<double> total, const std::string& message)>;

  /// Starts `command` and completes the `initialize` handshake.
  /// Errors: `unavailable` when the server does not start or does not answer.
  static Result<Client> start(const std::vector<std::string>& command, Progress progress);

  /// Calls a tool, reports its progress and returns its answer; if the work continues as a job,
  /// waits for the job. Errors: a JSON-RPC error or a dead server; a tool's own error is a
  /// `ToolReply`.
  Result<ToolReply> call(const std::string& tool, const Json& arguments);

  /// What `tools/list` answers, all pages of it. Errors: as of `call`.
  Result<std::vector<std::string>> tool_names();

  [[nodiscard]] const std::string& server_name() const { return server_name_; }

 private:
  Client(Process process, Fd to_server, Fd from_server, Progress progress)
      : process_(std::move(process)),
        to_server_(std::move(to_server)),
        from_server_(std::move(from_server)),
        progress_(std::move(progress)) {}

  Result<ToolReply> call_once(const std::string& tool, const Json& arguments);
  Result<Json> request(const std::string& method, Json params);
  Status send(const Json& message);
  Result<Json> receive();

  Process process_;
  Fd to_server_;
  Fd from_server_;
  Progress progress_;
  std::string buffer_;
  std::string server_name_;
  int next_id_ = 1;
};

}  // namespace ratchet::demo
