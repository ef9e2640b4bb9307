#pragma once

#include <atomic>
#include <memory>
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

/// The MCP endpoint of the HTTP server: what each HTTP method on `/mcp` does, in both eras.
///
/// Thread rule: handlers run on the threads of many connections at once. Must outlive the
/// `HttpLibrary` that it is added to.
class HttpEndpoint {
 public:
  HttpEndpoint(Dispatcher& dispatcher, Pool& pool, const HttpOptions& options,
               std::stop_token stop);

  void add_to(HttpLibrary& server);

 private:
  /// One event stream; counts against the limit while it exists.
  struct OpenStream;
  /// The format of the answer that a client accepts. Clients that list event streams first always
  /// get one; others get one when a call takes long or reports progress.
  struct AnswerFormat {
    bool events = false;
    bool events_first = false;
    bool opening_event = false;  ///< accepts an event without a message
  };
  /// One connection that reads a stream of events.
  struct Reader {
    std::shared_ptr<EventStream> events;
    std::size_t next = 0;
    std::string opening;  ///< sent before all messages
  };
  class EventBody;
  /// Runs when the stream ends: stops a call, or removes a subscription.
  using AtEnd = std::function<void()>;

  [[nodiscard]] HttpLibrary::Entry entry_of(const HttpLibrary& server, const HttpRequest& request,
                                            HttpResponse& response) const;
  void post(const HttpRequest& request, HttpResponse& response);
  void get(const HttpRequest& request, HttpResponse& response);
  void remove(const HttpRequest& request, HttpResponse& response);

  /// The session of a legacy message; null, with the error in `response`, when there is none.
  std::shared_ptr<Session> session_of(const HttpRequest& request, const Message& message,
                                      HttpResponse& response);
  void handle_message(const HttpRequest& request, HttpResponse& response, Message message);
  [[nodiscard]] static AnswerFormat format_of(const HttpRequest& request);
  void serve(Request call, const AnswerFormat& format, HttpResponse& response);
  void serve_in_pool(Request call, const AnswerFormat& format, HttpResponse& response);
  void listen(Request call, const AnswerFormat& format, HttpResponse& response);
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
