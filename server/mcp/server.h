#pragma once

#include <memory>
#include <stop_token>
#include <string_view>

#include "server/core/result.h"
#include "server/mcp/features/interaction.h"
#include "server/mcp/features/server_options.h"
#include "server/mcp/http/options.h"

namespace ratchet::mcp {

/// An MCP server: both eras of the protocol, over stdio and HTTP.
///
/// Thread-safe. Both `serve_` functions block and may run at the same time. Owns its options and a
/// thread pool that lives as long as the server, because children that a tool spawned die with the
/// thread that spawned them. Errors: only `serve_http` can fail, when it cannot or may not bind.
class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves one client on two descriptors, one JSON object per line, until the input ends, the
  /// parent process dies or `stop` is requested. Requests already read then have a second to
  /// finish. Returns the exit status, 0.
  int serve_stdio(int input, int output, const std::stop_token& stop);

  /// Serves HTTP until `stop` is requested. Returns the exit status, 0. Errors: `not_permitted` for
  /// an address beyond loopback without a token or with an old HTTP library; `unavailable` when the
  /// address is in use.
  [[nodiscard]] Result<int> serve_http(const HttpOptions& http, const std::stop_token& stop);

  /// Notifies clients that a list changed: every open session, and the listeners that asked.
  void publish(Change change);
  /// Notifies the subscribers of a resource.
  void resource_updated(std::string_view uri);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Returns the process's stdout as a private descriptor (close-on-exec) and redirects descriptor 1
/// to stderr, so that a stray print cannot corrupt the protocol. Call it before any thread starts.
[[nodiscard]] Result<int> claim_stdout();

}  // namespace ratchet::mcp
