#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "server/mcp/http/head.h"

namespace ratchet::mcp {

/// One accepted HTTP connection, as the HTTP library reads and writes it.
///
/// It stands between the socket and the library so that every head is checked before the library
/// sees it (old versions accept what smuggles requests), slow senders are cut off, and the head and
/// body of an answer leave in one write. Does not own the socket.
/// Thread rule: the connection's thread only.
class SocketStream {
 public:
  /// How long a request may take to arrive.
  struct Times {
    std::chrono::milliseconds head;
    std::chrono::milliseconds rest;
  };
  /// `wake` becomes readable when the server stops; idle connections end then.
  SocketStream(int socket, int wake, Times times);

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

  /// Whether bytes of the current request are at hand; waits for them until its time is up.
  [[nodiscard]] bool is_readable() const;
  /// Up to `size` bytes of the current request: first its cleaned head, then its body. -1 at the
  /// end of the input or of its time.
  ssize_t read(char* bytes, std::size_t size);
  /// Collects what is to be sent; sends when 64 KiB are collected. -1 when the client is gone.
  ssize_t write(const char* bytes, std::size_t size);
  /// Sends what was written. False when the client is gone.
  [[nodiscard]] bool flush_and_check();
  [[nodiscard]] int socket() const { return socket_; }

 private:
  [[nodiscard]] bool receive();
  /// What `recv` says without waiting; what came is in `in_`.
  ssize_t receive_at_once();
  [[nodiscard]] bool wait(short events, std::chrono::steady_clock::time_point until) const;

  const int socket_;
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
