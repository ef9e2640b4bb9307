#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "server/core/result.h"
#include "server/mcp/server.h"

namespace CLI {
class App;
}

namespace ratchet {

/// How a server is reached: the options of `ratchet serve`.
struct ServeOptions {
  std::optional<std::string> http;  ///< [HOST:]PORT; not set: stdio
  std::filesystem::path token_file;
  bool no_auth = false;
  bool sessions = false;
  bool force_old_http = false;
};

/// Adds them to a command line. `options` must outlive its parsing.
void add_serve_options(CLI::App& app, ServeOptions& options);

/// Host and port of `[HOST:]PORT`; `[::1]:8383` works too. An empty text means the defaults.
struct Endpoint {
  std::string host = "127.0.0.1";
  int port = 8383;
};
[[nodiscard]] Result<Endpoint> parse_endpoint(const std::string& text);

/// Serves over stdio or HTTP until the client goes away or `stop` is requested, and logs where it
/// listens under the name `program`. Returns the exit status.
[[nodiscard]] int serve(mcp::Server& server, const ServeOptions& options, std::string_view program,
                        const std::stop_token& stop);

/// Makes the process log to stderr, for stdout belongs to the protocol; wrapped where it is a
/// terminal.
void log_to_stderr();

/// Prints `error` to stderr. Returns the exit status for it, 1.
int fail(const Error& error);

/// Turns SIGINT and SIGTERM into a stop request, as long as the thread lives. Call it before other
/// threads start: they inherit the blocked signals.
[[nodiscard]] std::jthread stop_on_signals(std::stop_source& source);

}  // namespace ratchet
