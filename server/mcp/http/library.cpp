#include "server/mcp/http/library.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "server/core/fd.h"
#include "server/mcp/dispatch/pool.h"
#include "server/mcp/http/access_policy.h"
#include "server/mcp/http/connection_table.h"
#include "server/mcp/http/socket_stream.h"

namespace ratchet::mcp {
namespace {

constexpr int kBacklog = 512;
constexpr std::size_t kReserve = 32;  // connections for requests that are answered at once

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
    case 503:
      return "Service Unavailable";
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

/// Allows address reuse after a restart, but not two servers on one port.
void set_socket_options(socket_t socket) {
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

class LibraryRequest final : public HttpRequest {
 public:
  explicit LibraryRequest(const httplib::Request& request) : request_(request) {}

  [[nodiscard]] const std::string& method() const override { return request_.method; }
  [[nodiscard]] const std::string& path() const override { return request_.path; }
  [[nodiscard]] const std::string& version() const override { return request_.version; }
  [[nodiscard]] const std::string& body() const override { return request_.body; }
  [[nodiscard]] bool has_header(const std::string& name) const override {
    return request_.has_header(name);
  }
  [[nodiscard]] std::string header(const std::string& name) const override {
    return request_.get_header_value(name);
  }
  [[nodiscard]] std::optional<std::string> joined_header(const std::string& name) const override {
    std::optional<std::string> value;
    const auto [first, last] = request_.headers.equal_range(name);
    for (auto header = first; header != last; ++header)
      value = value ? *value + "," + header->second : header->second;
    return value;
  }

 private:
  const httplib::Request& request_;
};

void send_stream(std::unique_ptr<HttpStream> stream, const std::string& content_type,
                 httplib::Response& response) {
  response.set_chunked_content_provider(
      content_type, [stream = std::shared_ptr<HttpStream>(std::move(stream))](
                        std::size_t, httplib::DataSink& sink) {
        // This call also sends what was written before.
        if (!sink.is_writable()) return false;
        const std::string chunk = stream->next_chunk();
        if (!chunk.empty() && !sink.write(chunk.data(), chunk.size())) return false;
        if (stream->is_complete()) sink.done();
        return true;
      });
}

void send(HttpResponse ours, httplib::Response& response) {
  response.status = ours.status;
  for (const auto& [name, value] : ours.headers) response.set_header(name, value);
  if (ours.stream) return send_stream(std::move(ours.stream), ours.content_type, response);
  response.body = std::move(ours.body);
  if (!ours.content_type.empty()) response.set_header("Content-Type", ours.content_type);
}

httplib::Server::Handler adapted(HttpLibrary::Handler handler) {
  return
      [handler = std::move(handler)](const httplib::Request& request, httplib::Response& response) {
        HttpResponse ours;
        handler(LibraryRequest(request), ours);
        send(std::move(ours), response);
      };
}

/// Adapts a `SocketStream` to the library.
class LibraryStream final : public httplib::Stream {
 public:
  explicit LibraryStream(SocketStream& stream) : stream_(stream) {}

  bool is_readable() const override { return stream_.is_readable(); }
  ssize_t read(char* bytes, size_t size) override { return stream_.read(bytes, size); }
  ssize_t write(const char* bytes, size_t size) override { return stream_.write(bytes, size); }
  using Stream::write;
  // The library only passes addresses on; the remote port is used to find the connection again.
  void get_remote_ip_and_port(std::string&, int& port) const override { port = stream_.socket(); }
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return stream_.socket(); }
  // No `override`: older versions lack some of these, newer ones others.
  virtual bool is_writable() const { return stream_.flush_and_check(); }
  virtual bool wait_readable() const { return stream_.is_readable(); }
  virtual bool wait_writable() const { return stream_.flush_and_check(); }
  virtual bool is_peer_alive() const { return stream_.flush_and_check(); }
  virtual time_t duration() const { return 0; }

 private:
  SocketStream& stream_;
};

/// Runs each connection on a thread of the pool. When all are taken, one that waits for its client
/// is closed; while none is free yet, some more connections wait, and the others are refused: the
/// thread that accepts them never waits.
class Connections final : public httplib::TaskQueue {
 public:
  using EnqueueResult =
      decltype(std::declval<httplib::TaskQueue&>().enqueue(std::function<void()>()));

  /// `refusing` is the thread on which a task refuses its connection instead of serving it.
  Connections(Pool& pool, ConnectionTable& table, std::atomic<std::thread::id>& refusing)
      : pool_(pool), table_(table), refusing_(refusing) {}
  EnqueueResult enqueue(std::function<void()> task) override;
  void shutdown() override;

 private:
  Pool& pool_;
  ConnectionTable& table_;
  std::atomic<std::thread::id>& refusing_;
  std::mutex mutex_;
  std::condition_variable none_;
  std::size_t open_ = 0;
};

Connections::EnqueueResult Connections::enqueue(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    ++open_;
  }
  table_.expect_one();
  const auto serve = [this, task] {
    table_.expect_less();
    task();
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) none_.notify_all();
  };
  if (!pool_.post(Pool::Lane::reads, serve)) {
    refusing_ = std::this_thread::get_id();
    serve();
    refusing_ = std::thread::id();
  }
  return EnqueueResult(true);  // newer versions return whether the task was accepted
}

void Connections::shutdown() {
  std::unique_lock lock(mutex_);
  none_.wait(lock, [this] { return open_ == 0; });
}

}  // namespace

std::string_view http_library_version() {
  return CPPHTTPLIB_VERSION;
}

class HttpLibrary::Library final : public httplib::Server {
 public:
  Library(const HttpOptions& options, std::function<void()> refused);

  Result<int> open(const std::string& host, int port);
  void shut();
  [[nodiscard]] bool is_crowded() const { return table_.is_crowded(); }
  void let_in(int socket) { table_.let_in(socket); }

 private:
  bool process_and_close_socket(socket_t socket) override;
  void serve_connection(socket_t socket, ConnectionTable::Connection& connection);
  void refuse(socket_t socket);
  template <class Self>
  static bool serve_one(Self& self, LibraryStream& stream, bool& closed);

  std::function<void()> refused_;
  HeadLimits limits_;
  SocketStream::Times times_;
  Fd wake_;
  ConnectionTable table_;
  std::atomic<std::thread::id> refusing_;
  Pool pool_;
};

HttpLibrary::Library::Library(const HttpOptions& options, std::function<void()> refused)
    : refused_(std::move(refused)),
      times_{options.first_limit, options.idle_limit, options.head_limit, options.request_limit},
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      table_({options.connections, options.connections_per_peer,
              std::min(kReserve, options.connections / 4)}),
      pool_({.reads = options.connections, .works = 1, .most_waiting = options.connections / 2}) {
  // Before 0.43.4 a negative chunk size wraps and the request hangs until its time is up.
  limits_.chunked = is_library_from(CPPHTTPLIB_VERSION, 44);
  set_tcp_nodelay(true);
  set_keep_alive_max_count(1'000'000);
  set_payload_max_length(limits_.body_bytes);
  httplib::Server::set_socket_options(mcp::set_socket_options);
  new_task_queue = [this] {
    return new Connections(pool_, table_, refusing_);
  };  // the library deletes it
}

Result<int> HttpLibrary::Library::open(const std::string& host, int port) {
  const bool bound = port == 0 ? (port = bind_to_any_port(host)) > 0 : bind_to_port(host, port);
  if (!bound)
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot listen on {}:{}: {}", host, port, std::strerror(errno)),
                 "Choose another port, or stop the program that uses this one."};
  // With the library's backlog of 5, clients in a burst wait for a second each.
  ::listen(svr_sock_.load(), kBacklog);
  return port;
}

void HttpLibrary::Library::shut() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  stop();
}

template <class Self>
bool HttpLibrary::Library::serve_one(Self& self, LibraryStream& stream, bool& closed) {
  const std::function<void(httplib::Request&)> no_setup;
  if constexpr (requires { self.process_request(stream, false, closed, no_setup); }) {
    return self.process_request(stream, false, closed, no_setup);
  } else {
    return self.process_request(stream, "", stream.socket(), "", 0, false, closed, no_setup);
  }
}

void HttpLibrary::Library::refuse(socket_t socket) {
  refused_();
  const std::string text = refusal_text({503, "too many connections; try again in a moment"});
  ::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void HttpLibrary::Library::serve_connection(socket_t socket,
                                            ConnectionTable::Connection& connection) {
  SocketStream stream(socket, wake_.get(), times_, connection);
  LibraryStream seen_by_library(stream);
  bool closed = false;
  bool whole = true;
  while (!closed && stream.wait_for_request() == SocketStream::Waited::request) {
    if (const auto problem = stream.receive_head(limits_)) {
      if (!problem->text.empty()) {
        refused_();
        const std::string refusal = refusal_text(*problem);
        stream.write(refusal.data(), refusal.size());
      }
      whole = false;
      break;
    }
    const bool served = serve_one(*this, seen_by_library, closed);
    // What was left unread would be parsed as the next request.
    whole = stream.read_whole_request();
    if (!served || !whole || !stream.flush()) break;
  }
  if (whole)
    stream.flush();
  else
    stream.linger();
}

bool HttpLibrary::Library::process_and_close_socket(socket_t socket) {
  const bool full = refusing_.load() == std::this_thread::get_id();
  {
    const auto connection = full ? nullptr : table_.add(socket);
    if (connection)
      serve_connection(socket, *connection);
    else
      refuse(socket);
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return true;
}

HttpLibrary::HttpLibrary(const HttpOptions& options, std::function<void()> refused)
    : library_(std::make_unique<Library>(options, std::move(refused))) {}

HttpLibrary::~HttpLibrary() = default;

void HttpLibrary::set_filter(Filter filter) {
  using Handled = httplib::Server::HandlerResponse;
  library_->set_pre_routing_handler(
      [filter = std::move(filter), library = library_.get()](const httplib::Request& request,
                                                             httplib::Response& response) {
        HttpResponse refusal;
        const auto entry = filter(LibraryRequest(request), refusal);
        if (entry == Entry::authorized) library->let_in(request.remote_port);
        if (entry != Entry::refused) return Handled::Unhandled;
        send(std::move(refusal), response);
        return Handled::Handled;
      });
}

void HttpLibrary::set_failure_handler(std::function<void(HttpResponse&)> handler) {
  library_->set_exception_handler([handler = std::move(handler)](const httplib::Request&,
                                                                 httplib::Response& response,
                                                                 const std::exception_ptr&) {
    HttpResponse ours;
    handler(ours);
    send(std::move(ours), response);
  });
}

void HttpLibrary::add_post(const std::string& path, Handler handler) {
  library_->Post(path, adapted(std::move(handler)));
}

void HttpLibrary::add_get(const std::string& path, Handler handler) {
  library_->Get(path, adapted(std::move(handler)));
}

void HttpLibrary::add_delete(const std::string& path, Handler handler) {
  library_->Delete(path, adapted(std::move(handler)));
}

Result<int> HttpLibrary::open(const std::string& host, int port) {
  return library_->open(host, port);
}

void HttpLibrary::serve() {
  library_->listen_after_bind();
}

bool HttpLibrary::is_running() const {
  return library_->is_running();
}

void HttpLibrary::shut() {
  library_->shut();
}

bool HttpLibrary::is_crowded() const {
  return library_->is_crowded();
}

}  // namespace ratchet::mcp
