#include "server/mcp/http_library.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <variant>

#include "server/mcp/http_door.h"

namespace ratchet::mcp {
namespace {

constexpr std::chrono::seconds kIdleLimit{75};
constexpr int kBacklog = 512;

std::string_view reason_of(int status) {
  switch (status) {
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Payload Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

std::string refusal_text(const HttpProblem& problem) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: "
      "close\r\n\r\n{}\n",
      problem.status, reason_of(problem.status), problem.text.size() + 1, problem.text);
}

/// Address reuse after a restart, but never a second server on the same port.
void set_socket_options(socket_t socket) {
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

}  // namespace

std::string_view http_library_version() {
  return CPPHTTPLIB_VERSION;
}

HttpLibrary::HttpLibrary(const HttpOptions& options, std::function<void()> refused)
    : refused_(std::move(refused)),
      times_{options.head_limit, options.request_limit},
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      pool_(options.connections, 1) {
  // Before 0.43.4 a negative chunk size wraps and the request hangs until its time is up.
  limits_.chunked = is_library_from(CPPHTTPLIB_VERSION, 44);
  set_tcp_nodelay(true);
  set_keep_alive_max_count(1'000'000);
  set_keep_alive_timeout(kIdleLimit.count());
  set_payload_max_length(limits_.body_bytes);
  httplib::Server::set_socket_options(mcp::set_socket_options);
  new_task_queue = [this] { return new Connections(pool_); };  // the library deletes it
}

Result<int> HttpLibrary::open(const std::string& host, int port) {
  const bool bound = port == 0 ? (port = bind_to_any_port(host)) > 0 : bind_to_port(host, port);
  if (!bound)
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot listen on {}:{}: {}", host, port, std::strerror(errno)),
                 "Choose another port, or end the program that holds this one."};
  // The library's backlog of 5 makes a burst of clients wait a second each.
  ::listen(svr_sock_.load(), kBacklog);
  return port;
}

void HttpLibrary::shut() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  stop();
}

template <class Self>
bool HttpLibrary::serve_one(Self& self, SocketStream& stream, bool& closed) {
  const std::function<void(httplib::Request&)> no_setup;
  if constexpr (requires { self.process_request(stream, false, closed, no_setup); }) {
    return self.process_request(stream, false, closed, no_setup);
  } else {
    // Addresses would only be logged, and we do not.
    return self.process_request(stream, "", 0, "", 0, false, closed, no_setup);
  }
}

bool HttpLibrary::process_and_close_socket(socket_t socket) {
  SocketStream stream(socket, wake_.get(), times_);
  bool closed = false;
  bool whole = true;
  while (!closed && stream.wait_for_request(kIdleLimit) == SocketStream::Waited::request) {
    if (const auto problem = stream.receive_head(limits_)) {
      if (!problem->text.empty()) {
        refused_();
        stream.write(refusal_text(*problem));
      }
      whole = false;
      break;
    }
    const bool served = serve_one(*this, stream, closed);
    // What was left unread would be taken for the next request.
    whole = stream.read_whole_request();
    if (!served || !whole || !stream.flush()) break;
  }
  if (whole)
    stream.flush();
  else
    stream.linger();
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return true;
}

HttpLibrary::Connections::EnqueueResult HttpLibrary::Connections::enqueue(
    std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    ++open_;
  }
  pool_.post(Pool::Lane::reads, [this, held = std::move(task)] {
    held();
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) none_.notify_all();
  });
  return EnqueueResult(true);  // newer libraries want to know that it was taken
}

void HttpLibrary::Connections::shutdown() {
  std::unique_lock lock(mutex_);
  none_.wait(lock, [this] { return open_ == 0; });
}

}  // namespace ratchet::mcp
