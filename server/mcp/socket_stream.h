#pragma once

#include <httplib.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "server/mcp/http_head.h"

namespace ratchet::mcp {

/// One accepted HTTP connection, as the HTTP library reads and writes it.
///
/// It stands between the socket and the library so that every head is checked before the library
/// sees it (old versions accept what smuggles requests), slow senders are cut off, and the head and
/// body of an answer leave in one write. Does not own the socket.
/// Thread rule: the connection's thread only.
class SocketStream final : public httplib::Stream {
 public:
  /// How long a request may take to arrive.
  struct Times {
    std::chrono::milliseconds head;
    std::chrono::milliseconds rest;
  };
  /// `wake` becomes readable when the server stops; idle connections end then.
  SocketStream(socket_t socket, int wake, Times times);

  enum class Waited { request, end };
  /// Waits for the next request's first byte.
  [[nodiscard]] Waited wait_for_request(std::chrono::milliseconds limit);
  /// Reads a head and puts its cleaned form before the library. A problem without text means that
  /// the client went away.
  [[nodiscard]] std::optional<HttpProblem> receive_head(const HeadLimits& limits);
  /// Whether the library read exactly the request, so that another may follow.
  [[nodiscard]] bool read_whole_request() const;
  /// Sends what was written. False when the client is gone.
  bool flush();
  /// Sends what was written and reads on for a while to no end, until the client closes: closing
  /// with bytes unread would reset the connection before the client has seen its answer.
  void linger();

  // What the library needs; which of these it declares depends on its version.
  bool is_readable() const override;
  ssize_t read(char* bytes, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;
  using Stream::write;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }
  // No `override`: older libraries lack some of these, newer ones others.
  virtual bool is_writable() const { return flushed_and_alive(); }
  virtual bool wait_readable() const { return is_readable(); }
  virtual bool wait_writable() const { return flushed_and_alive(); }
  virtual bool is_peer_alive() const { return flushed_and_alive(); }
  virtual time_t duration() const { return 0; }

 private:
  [[nodiscard]] bool flushed_and_alive() const;
  [[nodiscard]] bool receive();
  /// What `recv` says without waiting; what came is in `in_`.
  ssize_t receive_at_once();
  [[nodiscard]] bool wait(short events, std::chrono::steady_clock::time_point until) const;

  const socket_t socket_;
  const int wake_;
  const Times times_;
  std::chrono::steady_clock::time_point deadline_;  ///< until when the current request may arrive
  CleanHead head_;                                  ///< given to the library first
  std::size_t head_read_ = 0;
  std::size_t body_read_ = 0;
  std::string in_;  ///< received, not yet read
  std::size_t in_read_ = 0;
  std::string out_;
};

}  // namespace ratchet::mcp
