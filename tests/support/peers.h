#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/core/fd.h"
#include "server/mcp/server.h"

namespace ratchet::test {

/// A server with one tool per kind: `echo` (reads), `wait` (reads, until released or canceled),
/// `measure` (uses the device, reports progress) and `erase` (destroys, asks first).
struct SampleServer {
  SampleServer();
  ~SampleServer() { release(); }

  /// Releases every `wait`.
  void release();
  /// How many `wait` calls are running, and how many were canceled.
  [[nodiscard]] int waiting() const;
  [[nodiscard]] int canceled() const;

  std::unique_ptr<mcp::Server> server;

 private:
  struct Gate;
  std::shared_ptr<Gate> gate_;
};

[[nodiscard]] mcp::ServerOptions sample_options();

/// A client of `serve_stdio`, over pipes in this process.
class StdioPeer {
 public:
  explicit StdioPeer(mcp::Server& server);
  ~StdioPeer();

  void send_text(std::string_view line);
  void send(const Json& message) { send_text(message.dump()); }
  /// The next message; null when none arrives within `limit` or the server closed.
  Json receive(std::chrono::milliseconds limit = std::chrono::seconds(5));
  /// Ends the input and waits for the server to return. Returns how long that took.
  std::chrono::milliseconds finish();

 private:
  Fd to_server_;
  Fd from_server_;
  std::string buffer_;
  std::thread thread_;
};

/// An HTTP answer.
struct HttpAnswer {
  int status = 0;                              ///< 0: the server closed without an answer
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;                            ///< unchunked

  /// The JSON-RPC messages of a JSON body or of an event stream.
  [[nodiscard]] std::vector<Json> messages() const;
};

/// One TCP connection, from an address of this machine.
class HttpConnection {
 public:
  explicit HttpConnection(int port, const char* from = "127.0.0.1");

  void send(std::string_view bytes);
  /// Closes the sending half: the server sees the end of the input.
  void finish_sending();
  /// One complete answer.
  HttpAnswer receive(std::chrono::milliseconds limit = std::chrono::seconds(5));
  /// Input up to the first `text`; after `limit`, the input so far.
  std::string receive_until(std::string_view text,
                            std::chrono::milliseconds limit = std::chrono::seconds(5));

 private:
  bool fill(std::chrono::steady_clock::time_point until);

  Fd socket_;
  std::string buffer_;
};

using HeaderList = std::map<std::string, std::string>;

/// A POST to `/mcp` with the headers that a client of the message's era sends. `extra` adds and
/// replaces headers; an empty value removes one.
[[nodiscard]] std::string post_text(const std::string& body, const HeaderList& extra = {});

/// `serve_http` in a thread.
class HttpPeer {
 public:
  explicit HttpPeer(mcp::Server& server, mcp::HttpOptions options = {});
  ~HttpPeer();

  [[nodiscard]] int port() const { return port_; }
  /// One request on a connection of its own.
  HttpAnswer exchange(std::string_view bytes) const;
  HttpAnswer post(const Json& message, const HeaderList& extra = {}) const {
    return exchange(post_text(message.dump(), extra));
  }

 private:
  int port_ = 0;
  std::jthread thread_;
};

/// Messages of both eras.
[[nodiscard]] Json legacy(Json id, const std::string& method, Json params = Json::object());
[[nodiscard]] Json stateless(Json id, const std::string& method, Json params = Json::object(),
                             Json capabilities = Json::object());

/// Whether `seen` contains everything in `wanted`; "*" matches anything.
[[nodiscard]] bool contains(const Json& seen, const Json& wanted);

}  // namespace ratchet::test
