#include "server/mcp/http_endpoint.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "server/mcp/http_mirror.h"

namespace ratchet::mcp {
namespace {

using std::chrono::milliseconds;

constexpr const char* kSessionHeader = "Mcp-Session-Id";
constexpr const char* kVersionHeader = "MCP-Protocol-Version";
constexpr const char* kLastEventHeader = "Last-Event-ID";
constexpr const char* kJson = "application/json";
/// How often a stream looks whether its client or the server is gone.
constexpr milliseconds kLook{250};

std::optional<std::string> only_header(const httplib::Request& request, const std::string& name) {
  std::optional<std::string> value;
  const auto [first, last] = request.headers.equal_range(name);
  for (auto header = first; header != last; ++header)
    value = value ? *value + "," + header->second : header->second;
  return value;
}

void answer(httplib::Response& response, int status, std::string body, const char* type = kJson) {
  response.status = status;
  response.body = std::move(body);
  response.set_header("Content-Type", type);
}

/// A JSON-RPC error without a request that it belongs to.
void refuse(httplib::Response& response, int status, const std::string& text) {
  answer(response, status, error_text(nullptr, {code::kInvalidRequest, text, {}}));
}

int status_of(const Reply& reply) {
  if (reply.error == 0 || reply.era == Era::legacy) return 200;
  switch (reply.error) {
    case code::kMethodNotFound:
      return 404;
    case code::kHeaderMismatch:
    case code::kMissingCapability:
    case code::kUnsupportedVersion:
      return 400;
    default:
      return reply.refused ? 400 : 200;
  }
}

void answer(httplib::Response& response, Reply reply) {
  const int status = status_of(reply);
  answer(response, status, std::move(reply.text));
}

bool takes_events(const httplib::Request& request) {
  return request.version == "HTTP/1.1" &&
         request.get_header_value("Accept").find("text/event-stream") != std::string::npos;
}

/// Before 2025-11-25, clients take every event for a message.
bool knows_opening_events(const httplib::Request& request) {
  return request.get_header_value(kVersionHeader) == kLegacyVersions.front();
}

bool is_json(const httplib::Request& request) {
  const std::string type = request.get_header_value("Content-Type");
  return same_name(std::string_view(type).substr(0, type.find_first_of("; ")), kJson);
}

bool claims_stateless(const httplib::Request& request, const Message& message) {
  if (request.has_header(kVersionHeader) &&
      !is_legacy_version(request.get_header_value(kVersionHeader)))
    return true;
  const auto meta =
      message.params.is_object() ? message.params.find("_meta") : message.params.end();
  return message.params.is_object() && meta != message.params.end() && meta->is_object() &&
         meta->contains(key::kProtocolVersion);
}

}  // namespace

HttpEndpoint::Form HttpEndpoint::form_of(const httplib::Request& request) {
  if (!takes_events(request)) return {};
  const std::string accept = request.get_header_value("Accept");
  return {.events = true,
          .events_first = accept.find("text/event-stream") < accept.find(kJson),
          .opening_event = knows_opening_events(request)};
}

struct HttpEndpoint::OpenStream {
  OpenStream(std::atomic<std::size_t>& count, Metrics& metrics) : count_(count), metrics_(metrics) {
    metrics_.open_streams.fetch_add(1);
  }
  ~OpenStream() {
    count_.fetch_sub(1);
    metrics_.open_streams.fetch_sub(1);
  }
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

 private:
  std::atomic<std::size_t>& count_;
  Metrics& metrics_;
};

HttpEndpoint::HttpEndpoint(Dispatcher& dispatcher, Pool& pool, const HttpOptions& options,
                           std::stop_token stop)
    : dispatcher_(dispatcher),
      pool_(pool),
      options_(options),
      stop_(std::move(stop)),
      door_(options),
      shared_session_(std::make_shared<Session>(true)),
      sessions_(dispatcher.hub()) {
  dispatcher.hub().attach(shared_session_);
}

void HttpEndpoint::add_to(httplib::Server& server) {
  using Handled = httplib::Server::HandlerResponse;
  server.set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        return admits(request, response) ? Handled::Unhandled : Handled::Handled;
      });
  server.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
        spdlog::error("an HTTP handler threw");
        answer(response, 500, error_text(nullptr, {code::kInternalError, "Internal error", {}}));
      });
  server.Post("/mcp", [this](const httplib::Request& request, httplib::Response& response) {
    post(request, response);
  });
  server.Get("/mcp", [this](const httplib::Request& request, httplib::Response& response) {
    get(request, response);
  });
  server.Delete("/mcp", [this](const httplib::Request& request, httplib::Response& response) {
    remove(request, response);
  });
  server.Get("/healthz", [this](const httplib::Request&, httplib::Response& response) {
    const Json health{{"status", "ok"},
                      {"name", dispatcher_.options().name},
                      {"version", dispatcher_.options().version}};
    answer(response, 200, health.dump());
  });
  server.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
    answer(response, 200, dispatcher_.metrics().text(), "text/plain; version=0.0.4");
  });
}

bool HttpEndpoint::admits(const httplib::Request& request, httplib::Response& response) const {
  std::optional<std::string> origin;
  if (request.has_header("Origin")) origin = request.get_header_value("Origin");
  auto problem = door_.place_problem(request.get_header_value("Host"), origin);
  if (!problem && request.path != "/healthz")
    problem = door_.token_problem(request.get_header_value("Authorization"));
  if (!problem && request.path == "/mcp" && request.method != "POST" && request.method != "GET" &&
      request.method != "DELETE")
    problem = HttpProblem{405, "use POST, GET or DELETE"};
  if (!problem) return true;

  dispatcher_.metrics().refused.fetch_add(1);
  refuse(response, problem->status, problem->text);
  if (problem->status == 401) response.set_header("WWW-Authenticate", "Bearer");
  if (problem->status == 405) response.set_header("Allow", "POST, GET, DELETE");
  // Its body is not read, and would be taken for the next request.
  response.set_header("Connection", "close");
  return false;
}

void HttpEndpoint::post(const httplib::Request& request, httplib::Response& response) {
  dispatcher_.metrics().messages.fetch_add(1, std::memory_order_relaxed);
  if (!is_json(request)) return refuse(response, 415, "Content-Type must be application/json");
  auto decoded = decode_message(request.body);
  if (const auto* malformed = std::get_if<Malformed>(&decoded)) {
    dispatcher_.metrics().malformed.fetch_add(1, std::memory_order_relaxed);
    return answer(response, 400, error_text(malformed->id, malformed->error));
  }
  take(request, response, std::get<Message>(std::move(decoded)));
}

std::shared_ptr<Session> HttpEndpoint::session_of(const httplib::Request& request,
                                                  const Message& message,
                                                  httplib::Response& response) {
  if (!options_.sessions || claims_stateless(request, message)) return shared_session_;
  if (message.kind == Message::Kind::request && message.method == "initialize") {
    auto session = std::make_shared<Session>();
    response.set_header(kSessionHeader, sessions_.add(session));
    return session;
  }
  if (!request.has_header(kSessionHeader)) {
    refuse(response, 400, "Mcp-Session-Id is missing; send initialize first");
    return nullptr;
  }
  auto session = sessions_.find(request.get_header_value(kSessionHeader));
  if (!session) refuse(response, 404, "this session is unknown; send initialize again");
  return session;
}

void HttpEndpoint::take(const httplib::Request& request, httplib::Response& response,
                        Message message) {
  const auto session = session_of(request, message, response);
  if (!session) return;
  if (message.kind != Message::Kind::request) {
    dispatcher_.notice(message, *session, nullptr);
    response.status = 202;
    return;
  }
  auto admitted =
      dispatcher_.admit(std::move(message), {true, only_header(request, kVersionHeader)}, session);
  if (auto* reply = std::get_if<Reply>(&admitted)) return answer(response, std::move(*reply));

  auto& call = std::get<Request>(admitted);
  if (call.era == Era::stateless) {
    const Json* schema = nullptr;
    if (call.message.method == "tools/call")
      if (const auto name = string_param(call.message.params, "name");
          std::holds_alternative<std::string>(name))
        schema = dispatcher_.input_schema(std::get<std::string>(name));
    const auto lookup = [&](const std::string& name) { return only_header(request, name); };
    if (const auto error = mirror_error(call.message, lookup, schema))
      return answer(response, Dispatcher::refusal(call.message.id, *error, call.era));
  }
  serve(std::move(call), form_of(request), response);
}

void HttpEndpoint::serve(Request call, const Form& form, httplib::Response& response) {
  const auto cost = dispatcher_.cost(call);
  if (cost == Dispatcher::Cost::listens) return listen(std::move(call), form, response);
  const Json& meta = call.meta();
  const bool reports = form.events && meta.is_object() && meta.contains("progressToken");
  if (cost == Dispatcher::Cost::slow || reports || form.events_first)
    return serve_in_pool(std::move(call), form, response);
  if (auto reply = dispatcher_.serve(call, stop_))
    answer(response, *std::move(reply));
  else
    response.status = 202;  // cancelled: nothing may be said
}

void HttpEndpoint::serve_in_pool(Request call, const Form& form, httplib::Response& response) {
  const auto open = form.events ? open_stream() : nullptr;
  const Era era = call.era;
  const auto session = call.session;
  const auto lane =
      dispatcher_.cost(call) == Dispatcher::Cost::slow ? Pool::Lane::works : Pool::Lane::reads;
  auto events = std::make_shared<EventStream>();
  if (open) call.outlet = events;
  auto gone = std::make_shared<std::stop_source>();
  pool_.post(lane, [this, events, gone, held = std::make_shared<Request>(std::move(call))] {
    const std::stop_callback on_stop(stop_, [&gone] { gone->request_stop(); });
    events->finish(dispatcher_.serve(*held, gone->get_token()));
  });

  const bool stream_at_once = open && form.events_first;
  auto state = stream_at_once ? EventStream::State::talking : events->wait(0, options_.json_wait);
  while (!open && state == EventStream::State::silent && !stop_.stop_requested())
    state = events->wait(0, kLook);
  if (state == EventStream::State::finished || !open) {
    if (auto reply = events->take_reply()) return answer(response, *std::move(reply));
    response.status = 202;  // cancelled: nothing may be said
    return;
  }
  if (era == Era::legacy) {
    resumable_.add(events, session);
    return stream(
        {events, 0, form.opening_event ? events->opening_event() : ""}, open, [] {}, response);
  }
  // In this era a client that goes away has cancelled.
  const auto at_end = [events, gone] {
    events->close();
    gone->request_stop();
  };
  stream({events}, open, at_end, response);
}

void HttpEndpoint::listen(Request call, const Form& form, httplib::Response& response) {
  if (!form.events) return refuse(response, 406, "Accept must list text/event-stream");
  auto open = open_stream();
  if (!open) {
    refuse(response, 503, "too many open streams");
    return response.set_header("Retry-After", "5");
  }
  auto events = std::make_shared<EventStream>();
  call.outlet = events;
  auto opened = dispatcher_.listen(call);
  if (auto* reply = std::get_if<Reply>(&opened)) return answer(response, std::move(*reply));
  const auto at_end = [this, events, listener = std::get<std::shared_ptr<Hub::Listener>>(opened)] {
    events->close();
    dispatcher_.hub().remove(listener);
  };
  stream({events}, std::move(open), at_end, response);
}

void HttpEndpoint::get(const httplib::Request& request, httplib::Response& response) {
  const bool legacy = !request.has_header(kVersionHeader) ||
                      is_legacy_version(request.get_header_value(kVersionHeader));
  if (!legacy) {
    response.set_header("Allow", "POST");
    return refuse(response, 405, "this version has no GET stream; use subscriptions/listen");
  }
  if (!takes_events(request)) return refuse(response, 406, "Accept must list text/event-stream");
  auto session = shared_session_;
  if (options_.sessions) {
    if (!request.has_header(kSessionHeader))
      return refuse(response, 400, "Mcp-Session-Id is missing; send initialize first");
    session = sessions_.find(request.get_header_value(kSessionHeader));
    if (!session) return refuse(response, 404, "this session is unknown; send initialize again");
  }
  std::optional<ResumableStreams::Place> place;
  if (request.has_header(kLastEventHeader)) {
    place = resumable_.after(request.get_header_value(kLastEventHeader), *session);
    if (!place) return refuse(response, 400, "what followed this Last-Event-ID is not held here");
  }
  auto open = open_stream();
  if (!open) {
    refuse(response, 503, "too many open streams");
    return response.set_header("Retry-After", "5");
  }
  if (place) return stream({place->stream, place->next}, std::move(open), [] {}, response);
  auto events = std::make_shared<EventStream>();
  session->attach(events);
  stream({events}, std::move(open), [events] { events->close(); }, response);
}

void HttpEndpoint::remove(const httplib::Request& request, httplib::Response& response) {
  if (!options_.sessions || (request.has_header(kVersionHeader) &&
                             !is_legacy_version(request.get_header_value(kVersionHeader)))) {
    response.set_header("Allow", "POST, GET");
    return refuse(response, 405, "this server has no sessions to end");
  }
  if (!request.has_header(kSessionHeader))
    return refuse(response, 400, "Mcp-Session-Id is missing");
  if (!sessions_.remove(request.get_header_value(kSessionHeader)))
    return refuse(response, 404, "this session is unknown");
  response.status = 200;
}

std::shared_ptr<HttpEndpoint::OpenStream> HttpEndpoint::open_stream() {
  if (streams_.fetch_add(1) >= options_.streams) {
    streams_.fetch_sub(1);
    return nullptr;
  }
  return std::make_shared<OpenStream>(streams_, dispatcher_.metrics());
}

void HttpEndpoint::stream(Reader reader, std::shared_ptr<OpenStream> open, AtEnd at_end,
                          httplib::Response& response) {
  response.set_header("Cache-Control", "no-cache");
  response.set_header("X-Accel-Buffering", "no");
  reader.spoke_at = std::chrono::steady_clock::now();
  response.set_chunked_content_provider(
      "text/event-stream",
      [this, shared = std::make_shared<Reader>(std::move(reader))](std::size_t,
                                                                   httplib::DataSink& sink) {
        // Asking sends what was written and tells whether the client is still there.
        return sink.is_writable() && send_events(*shared, sink);
      },
      [open = std::move(open), at_end = std::move(at_end)](bool) { at_end(); });
}

bool HttpEndpoint::send_events(Reader& reader, httplib::DataSink& sink) const {
  std::string text = std::exchange(reader.opening, {});
  if (text.empty()) {
    reader.events->wait(reader.next, kLook);
    text = reader.events->take_events(reader.next);
  }
  const auto now = std::chrono::steady_clock::now();
  if (text.empty() && now - reader.spoke_at >= options_.keep_alive) text = ": still here\n\n";
  if (!text.empty()) {
    reader.spoke_at = now;
    if (!sink.write(text.data(), text.size())) return false;
  }
  if (reader.events->take_hang_up() || reader.events->exhausted(reader.next) ||
      stop_.stop_requested())
    sink.done();
  return true;
}

}  // namespace ratchet::mcp
