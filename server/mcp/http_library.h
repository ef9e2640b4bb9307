#pragma once

#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "server/core/fd.h"
#include "server/mcp/pool.h"
#include "server/mcp/server.h"
#include "server/mcp/socket_stream.h"

namespace ratchet::mcp {

/// The HTTP library with our own handling of connections; see `SocketStream` for why.
///
/// Thread rule: set up by one thread; `stop` from any.
class HttpLibrary final : public httplib::Server {
 public:
  /// `refused` is told of every request turned away before the library saw it.
  HttpLibrary(const HttpOptions& options, std::function<void()> refused);

  /// Binds and listens. Gives the port. Errors: `unavailable`.
  [[nodiscard]] Result<int> open(const std::string& host, int port);
  /// Accepts connections until `shut`, then waits for them to end.
  void serve() { listen_after_bind(); }
  void shut();

 private:
  /// Runs each connection on a thread of the pool.
  class Connections final : public httplib::TaskQueue {
   public:
    using EnqueueResult =
        decltype(std::declval<httplib::TaskQueue&>().enqueue(std::function<void()>()));

    explicit Connections(Pool& pool) : pool_(pool) {}
    EnqueueResult enqueue(std::function<void()> task) override;
    void shutdown() override;

   private:
    Pool& pool_;
    std::mutex mutex_;
    std::condition_variable none_;
    std::size_t open_ = 0;
  };

  bool process_and_close_socket(socket_t socket) override;
  template <class Self>
  static bool serve_one(Self& self, SocketStream& stream, bool& closed);

  std::function<void()> refused_;
  HeadLimits limits_;
  SocketStream::Times times_;
  Fd wake_;
  Pool pool_;
};

}  // namespace ratchet::mcp
