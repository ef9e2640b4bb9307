#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/dispatch/pool.h"
#include "server/mcp/http/access_policy.h"
#include "server/mcp/http/event_stream.h"
#include "server/mcp/http/library.h"
#include "server/mcp/http/resumable_streams.h"
#include "server/mcp/http/sessions.h"

namespace ratchet::mcp {

/// The MCP endpoint of the HTTP server: what each method on `/mcp` does, in both eras.
///
/// Thread rule: its handlers run on many connections' threads at once. Outlives the HTTP library.
class HttpEndpoint {
 public:
  HttpEndpoint(Dispatcher& dispatcher, Pool& pool, const HttpOptions& options,
               std::stop_token stop);

  void add_to(HttpLibrary& server);

 private:
  /// One event stream that counts against the cap while it lives.
  struct OpenStream;
  /// How a client wants to be answered. One that lists event streams first gets them always, others
  /// when a call lasts or reports.
  struct Form {
    bool events = false;
    bool events_first = false;
    bool opening_event = false;  ///< understands an event without a message
  };
  /// One connection that reads a stream of events.
  struct Reader {
    std::shared_ptr<EventStream> events;
    std::size_t next = 0;
    std::string opening;  ///< sent before all messages
  };
  class EventBody;
  /// What ends with the stream: a call to stop, or a subscription to forget.
  using AtEnd = std::function<void()>;

  [[nodiscard]] bool admits(const HttpRequest& request, HttpResponse& response) const;
  void post(const HttpRequest& request, HttpResponse& response);
  void get(const HttpRequest& request, HttpResponse& response);
  void remove(const HttpRequest& request, HttpResponse& response);

  /// The session of a legacy message; null when the response already tells why there is none.
  std::shared_ptr<Session> session_of(const HttpRequest& request, const Message& message,
                                      HttpResponse& response);
  void take(const HttpRequest& request, HttpResponse& response, Message message);
  [[nodiscard]] static Form form_of(const HttpRequest& request);
  void serve(Request call, const Form& form, HttpResponse& response);
  void serve_in_pool(Request call, const Form& form, HttpResponse& response);
  void listen(Request call, const Form& form, HttpResponse& response);
  void stream(Reader reader, std::shared_ptr<OpenStream> open, AtEnd at_end,
              HttpResponse& response) const;
  [[nodiscard]] std::shared_ptr<OpenStream> open_stream();

  Dispatcher& dispatcher_;
  Pool& pool_;
  const HttpOptions& options_;
  const std::stop_token stop_;
  const AccessPolicy access_;
  const std::shared_ptr<Session> shared_session_;
  HttpSessions sessions_;
  ResumableStreams resumable_;
  std::atomic<std::size_t> streams_{0};
};

}  // namespace ratchet::mcp
