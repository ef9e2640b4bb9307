#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "server/mcp/http/connection_table.h"
#include "server/mcp/http/head.h"

namespace ratchet::mcp {

/// One accepted HTTP connection, between the socket and the HTTP library: it checks every head
/// before the library sees it (old versions accept smuggled requests), cuts off slow senders, and
/// sends the head and body of an answer in one write. Does not own the socket. Thread rule: the
/// connection's thread only.
class SocketStream {
 public:
  /// How long the server waits for a client.
  struct Times {
    std::chrono::milliseconds first;  ///< for the first byte of the first request
    std::chrono::milliseconds idle;   ///< for that of a later one
    std::chrono::milliseconds head;   ///< for a whole head
    std::chrono::milliseconds pause;  ///< for each KiB of a body
  };
  /// `wake` becomes readable when the server stops; idle connections then end. Borrows
  /// `connection`, which learns when this waits for the client.
  SocketStream(int socket, int wake, Times times, ConnectionTable::Connection& connection);

  enum class Waited { request, end };
  /// Waits for the next request's first byte.
  [[nodiscard]] Waited wait_for_request();
  /// Reads a head and provides its cleaned form to the library. A problem without text means that
  /// the client went away.
  [[nodiscard]] std::optional<HttpProblem> receive_head(const HeadLimits& limits);
  /// Whether the library read exactly the request, so that another may follow.
  [[nodiscard]] bool read_whole_request() const;
  /// Sends what was written. Returns false when the client is gone.
  bool flush();
  /// Sends what was written, then reads and discards input for a while, until the client closes:
  /// closing with unread input would reset the connection before the client has read its answer.
  void linger();

  /// Whether bytes of the current request are available; waits for them until its time limit.
  [[nodiscard]] bool is_readable() const;
  /// Reads up to `size` bytes of the current request: first its cleaned head, then its body.
  /// Returns -1 at the end of the input or after the time limit.
  ssize_t read(char* bytes, std::size_t size);
  /// Buffers output and sends it once 64 KiB are buffered. Returns -1 when the client is gone.
  ssize_t write(const char* bytes, std::size_t size);
  /// `flush`, and whether the client is still connected.
  [[nodiscard]] bool flush_and_check();
  [[nodiscard]] int socket() const { return socket_; }

 private:
  [[nodiscard]] bool receive();
  /// Receives into `in_` without waiting. Returns what `recv` returned.
  ssize_t receive_at_once();
  /// Waits for an event of the socket, which is not the server's stop. False after `until`, and
  /// when the connection was closed for another one.
  [[nodiscard]] bool wait(short events, std::chrono::steady_clock::time_point until,
                          bool until_stop = false) const;
  /// Counts what the client took or gave. True when that was another KiB: it makes progress.
  bool note_moved(std::size_t bytes);

  const int socket_;
  const int wake_;
  const Times times_;
  ConnectionTable::Connection& connection_;
  bool served_ = false;                             ///< at least one request
  bool has_head_ = false;                           ///< of the current request
  std::size_t moved_ = 0;                           ///< bytes since progress was last counted
  std::chrono::steady_clock::time_point deadline_;  ///< for more of the current request
  CleanHead head_;                                  ///< read by the library first
  std::size_t head_read_ = 0;
  std::size_t body_read_ = 0;
  std::string in_;  ///< received, not yet read
  std::size_t in_read_ = 0;
  std::string out_;
};

}  // namespace ratchet::mcp
