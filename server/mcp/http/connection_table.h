#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace ratchet::mcp {

/// All open connections of an HTTP server, each with a thread of its own, and which of them is
/// closed to make room for another.
///
/// A connection either works on a request or waits for its client: for a request, for the rest of
/// one, or until it takes more of an answer. Only waiting ones are closed: first those whose
/// requests were not let in yet, then those that have waited longest. So clients that send nothing,
/// or as little as possible, cannot keep others out. Thread-safe.
class ConnectionTable {
 public:
  struct Limits {
    std::size_t connections;  ///< in all
    std::size_t per_peer;     ///< from one address; of IPv6, from one /64 network
    std::size_t reserve;      ///< of all, kept for requests that are answered at once
  };
  explicit ConnectionTable(Limits limits) : limits_(limits) {}

  /// One connection, as long as it is open. Its thread calls everything here.
  class Connection {
   public:
    Connection(ConnectionTable& table, int socket);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// It begins to wait for its client.
    void begin_wait();
    /// It works again. False when it was closed meanwhile.
    bool end_wait();
    /// Its client did something: counts the time it waits from now on.
    void note_progress();

   private:
    friend class ConnectionTable;
    using Peer = std::array<unsigned char, 16>;
    enum State : std::int64_t { works = 0, closed = -1 };  // else: waits since then, in ns

    ConnectionTable& table_;
    const int socket_;
    const Peer peer_;
    std::int64_t since_;
    std::atomic<std::int64_t> state_{works};
    bool let_in_ = false;  // needs the lock
  };

  /// A connection was accepted and waits for a thread. While all are taken, one that waits for its
  /// client is closed for it, at once or when it begins to wait.
  void expect_one();
  /// It has got a thread, or was refused one.
  void expect_less();

  /// Adds a connection, and closes another of its peer when that has more than it may, at once or
  /// when one begins to wait. Null when all of them are at work.
  [[nodiscard]] std::unique_ptr<Connection> add(int socket);
  /// The client of this connection may use the server: a request of it was let in.
  void let_in(int socket);
  /// Whether so many connections are at work that only requests answered at once may come in.
  [[nodiscard]] bool is_crowded() const {
    return at_work_.load() + limits_.reserve > limits_.connections;
  }

 private:
  enum class Closed { one, later, none };
  /// Closes as many as are expected and have no thread, and one of this peer if it has too many.
  void make_room(const Connection::Peer* peer);
  /// Closes the waiting one that can be spared best, of this peer or, if null, of all; `later` when
  /// a better one is about to wait. Needs the lock.
  Closed close_one(const Connection::Peer* peer);
  [[nodiscard]] bool is_over(const Connection::Peer& peer) const;  // needs the lock

  const Limits limits_;
  std::atomic<std::size_t> at_work_{0};
  std::atomic<std::size_t> expected_{0};
  std::atomic<std::size_t> size_{0};
  std::mutex mutex_;
  std::unordered_map<int, Connection*> open_;  ///< by socket
  std::size_t closing_ = 0;                    ///< of them, closed and not gone yet
};

}  // namespace ratchet::mcp
