#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/core/background_calls.h"
#include "server/core/result.h"
#include "server/core/tool.h"
#include "server/mcp/features.h"
#include "server/mcp/interaction.h"

namespace ratchet::mcp {

/// What the server offers. Fixed when it starts; lists keep the order given here.
struct ServerOptions {
  std::string name = "ratchet";
  std::string title = "Ratchet";
  std::string version;
  std::string instructions;  ///< at most 2 KB: clients cut there
  std::vector<OfferedTool> tools;
  std::vector<Prompt> prompts;
  std::vector<ResourceProvider> resources;
  std::vector<Skill> skills;  ///< their files are resources; not empty offers the extension
  std::shared_ptr<BackgroundCalls>
      jobs;                     ///< of the tools that are long_running; offers the tasks extension
  bool lists_change = false;    ///< declares listChanged for tools and prompts
  std::size_t page_size = 200;  ///< entries of one page of a list
  /// Reading calls that may be slow at once. Most of them wait for files, not for a core.
  std::size_t threads =
      std::max<std::size_t>(64, std::size_t{4} * std::thread::hardware_concurrency());
  std::size_t work_threads = 16;  ///< other calls at once; further ones wait their turn
};

/// How to serve HTTP. The endpoint is `/mcp`; `/healthz` and `/metrics` answer beside it.
struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8383;                         ///< 0 takes a free one; see `on_listening`
  std::string token;                       ///< bearer token; required for any address but loopback
  bool sessions = false;                   ///< issue session ids to legacy clients
  bool force_old_library = false;          ///< beyond loopback with an HTTP library below 0.41 too
  std::vector<std::string> allowed_hosts;  ///< Host names beside the loopback forms and `host`
  std::vector<std::string> allowed_origins;      ///< Origins beside the loopback forms
  std::size_t connections = 512;                 ///< threads, one each; further connections wait
  std::size_t streams = 256;                     ///< open SSE streams; beyond: 503 with Retry-After
  std::chrono::milliseconds json_wait{250};      ///< a call that lasts longer is answered by SSE
  std::chrono::seconds keep_alive{15};           ///< silence on a stream before a comment line
  std::chrono::milliseconds head_limit{10'000};  ///< for the head of a request to arrive
  std::chrono::milliseconds request_limit{60'000};  ///< for the rest of it
  std::function<void(int port)> on_listening;       ///< called once, from the serving thread
};

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

/// Version of the HTTP library in this build, for the start-up line: "0.11.4".
[[nodiscard]] std::string_view http_library_version();

}  // namespace ratchet::mcp
