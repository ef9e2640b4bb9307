#pragma once

#include <memory>
#include <stop_token>
#include <string_view>

#include "server/core/result.h"
#include "server/mcp/features/interaction.h"
#include "server/mcp/features/server_options.h"
#include "server/mcp/http/options.h"

namespace ratchet::mcp {

/// An MCP server over a list of tools: both eras of the protocol, over stdio and HTTP.
///
/// Thread rule: every member may be called from any thread. Both `serve_` functions block; they may
/// run at once. Ownership: owns its options and a thread pool that lives as long as the server,
/// because children that a tool spawned die with the thread that spawned them.
/// Errors: only `serve_http` can fail, when it cannot or may not bind.
class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves one client on two descriptors, one JSON object a line, until the input ends, the parent
  /// process goes or `stop` is requested. Requests already read then get a second to finish.
  /// Returns the exit status: 0.
  int serve_stdio(int input, int output, const std::stop_token& stop);

  /// Serves HTTP until `stop` is requested. Errors: `not_permitted` for a non-loopback address
  /// without a token or with an old HTTP library, `unavailable` when the address is taken. The
  /// value is 0.
  [[nodiscard]] Result<int> serve_http(const HttpOptions& http, const std::stop_token& stop);

  /// Tells subscribed clients.
  void publish(Change change);
  void resource_updated(std::string_view uri);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Gives back the process's stdout as a private descriptor (close-on-exec) and points descriptor 1
/// at stderr, so that a stray print cannot break the protocol. Call it before any thread starts.
[[nodiscard]] Result<int> claim_stdout();

}  // namespace ratchet::mcp
