#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"

namespace ratchet::mcp {

/// How to serve HTTP. The endpoint is `/mcp`; `/healthz` and `/metrics` are served, too.
struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8383;        ///< 0 selects a free one; see `on_listening`
  std::string token;      ///< bearer token: 16 or more visible ASCII characters
  bool no_auth = false;   ///< without a token: every user of this machine may call; loopback only
  bool sessions = false;  ///< issue session ids to legacy clients
  bool force_old_library = false;            ///< allow an HTTP library below 0.41 beyond loopback
  std::vector<std::string> allowed_hosts;    ///< Host names besides loopback names and `host`
  std::vector<std::string> allowed_origins;  ///< Origins besides loopback origins
  std::size_t connections = 512;           ///< one thread each; beyond it, one that waits is closed
  std::size_t connections_per_peer = 384;  ///< of one address, also of this machine
  std::size_t streams = 256;               ///< open SSE streams; beyond that, 503 with Retry-After
  std::chrono::milliseconds json_wait{250};         ///< a call that takes longer is answered by SSE
  std::chrono::seconds keep_alive{15};              ///< silence on a stream before a comment line
  std::chrono::milliseconds first_limit{10'000};    ///< for the first byte on a new connection
  std::chrono::milliseconds idle_limit{75'000};     ///< between two requests
  std::chrono::milliseconds head_limit{10'000};     ///< for the head of a request to arrive
  std::chrono::milliseconds request_limit{60'000};  ///< for each KiB of its body
  std::function<void(int port)> on_listening;       ///< called once, from the serving thread
};

/// Why a text cannot be a token: guessed too easily, or not sendable in a header. Pure.
[[nodiscard]] std::optional<Error> token_error(std::string_view token);

/// Version of the HTTP library in this build: "0.11.4".
[[nodiscard]] std::string_view http_library_version();

}  // namespace ratchet::mcp
