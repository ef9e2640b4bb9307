#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/core/result.h"
#include "server/mcp/http/message.h"
#include "server/mcp/http/options.h"

namespace ratchet::mcp {

/// An HTTP/1.1 server: cpp-httplib does routing and framing, `SocketStream` handles connections and
/// checks every head. Its source is the only one that includes the library, which takes about 40 s
/// to compile.
///
/// Thread rule: set up by one thread; `shut`, `is_running` and `is_crowded` from any. Filter and
/// handlers run on the threads of many connections at once.
class HttpLibrary {
 public:
  using Handler = std::function<void(const HttpRequest&, HttpResponse&)>;
  /// Whether a request may go on to its handler: as anybody's, or as that of a client who may use
  /// the server. When it may not, the response is sent.
  enum class Entry { refused, anybody, authorized };
  using Filter = std::function<Entry(const HttpRequest&, HttpResponse&)>;

  /// `refused` is called for every request rejected before the library saw it.
  HttpLibrary(const HttpOptions& options, std::function<void()> refused);
  ~HttpLibrary();

  void set_filter(Filter filter);
  /// Makes the response for a handler that threw.
  void set_failure_handler(std::function<void(HttpResponse&)> handler);
  void add_post(const std::string& path, Handler handler);
  void add_get(const std::string& path, Handler handler);
  void add_delete(const std::string& path, Handler handler);

  /// Binds and listens. Returns the port. Errors: `unavailable`.
  [[nodiscard]] Result<int> open(const std::string& host, int port);
  /// Accepts connections until `shut`, then waits for them to end.
  void serve();
  [[nodiscard]] bool is_running() const;
  void shut();
  /// Whether requests that may take a while must be refused, so that others are answered.
  [[nodiscard]] bool is_crowded() const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace ratchet::mcp
