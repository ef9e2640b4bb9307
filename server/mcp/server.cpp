#include "server/mcp/server.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "server/core/fd.h"
#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/dispatch/pool.h"
#include "server/mcp/http/serve.h"
#include "server/mcp/stdio/serve.h"

namespace ratchet::mcp {

struct Server::Parts {
  explicit Parts(ServerOptions options)
      : dispatcher(std::move(options)),
        pool({.reads = dispatcher.options().threads,
              .works = dispatcher.options().work_threads,
              .waits = dispatcher.options().wait_threads,
              .most_waiting = dispatcher.options().most_queued}) {}

  Dispatcher dispatcher;
  Pool pool;  // after the dispatcher: its tasks use it
};

Server::Server(ServerOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {
  // A client that disconnects makes one write fail; it must not end the process.
  std::signal(SIGPIPE, SIG_IGN);
}

Server::~Server() = default;

int Server::serve_stdio(int input, int output, const std::stop_token& stop) {
  mcp::serve_stdio(parts_->dispatcher, parts_->pool, input, output, stop);
  return 0;
}

Result<int> Server::serve_http(const HttpOptions& http, const std::stop_token& stop) {
  return mcp::serve_http(parts_->dispatcher, parts_->pool, http, stop);
}

void Server::publish(Change change) {
  parts_->dispatcher.hub().publish(change);
}

void Server::resource_updated(std::string_view uri) {
  parts_->dispatcher.hub().resource_updated(uri);
}

Result<int> claim_stdout() {
  Fd private_copy(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!private_copy || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return Error{ErrorCode::internal,
                 std::string("stdout could not be moved: ") + std::strerror(errno),
                 "Start the server with stdout and stderr open."};
  return private_copy.release();
}

}  // namespace ratchet::mcp
