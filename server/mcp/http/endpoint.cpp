#include "server/mcp/http/endpoint.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "server/mcp/http/header_match.h"

namespace ratchet::mcp {
namespace {

using std::chrono::milliseconds;

constexpr const char* kSessionHeader = "Mcp-Session-Id";
constexpr const char* kVersionHeader = "MCP-Protocol-Version";
constexpr const char* kLastEventHeader = "Last-Event-ID";
constexpr const char* kJson = "application/json";
/// How often a stream checks whether its client or the server is gone.
constexpr milliseconds kCheckInterval{250};

void answer(HttpResponse& response, int status, std::string body, const char* type = kJson) {
  response.status = status;
  response.body = std::move(body);
  response.content_type = type;
}

/// A JSON-RPC error that belongs to no request.
void refuse(HttpResponse& response, int status, const std::string& text) {
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

void answer(HttpResponse& response, Reply reply) {
  const int status = status_of(reply);
  answer(response, status, std::move(reply.text));
}

bool takes_events(const HttpRequest& request) {
  return request.version() == "HTTP/1.1" &&
         request.header("Accept").find("text/event-stream") != std::string::npos;
}

/// Before 2025-11-25, clients parse every event as a message.
bool knows_opening_events(const HttpRequest& request) {
  return request.header(kVersionHeader) == kLegacyVersions.front();
}

bool is_json(const HttpRequest& request) {
  const std::string type = request.header("Content-Type");
  return same_name(std::string_view(type).substr(0, type.find_first_of("; ")), kJson);
}

Pool::Lane lane_of(Dispatcher::Cost cost) {
  if (cost == Dispatcher::Cost::waits) return Pool::Lane::waits;
  return cost == Dispatcher::Cost::slow ? Pool::Lane::works : Pool::Lane::reads;
}

bool claims_stateless(const HttpRequest& request, const Message& message) {
  if (request.has_header(kVersionHeader) && !is_legacy_version(request.header(kVersionHeader)))
    return true;
  const auto meta =
      message.params.is_object() ? message.params.find("_meta") : message.params.end();
  return message.params.is_object() && meta != message.params.end() && meta->is_object() &&
         meta->contains(key::kProtocolVersion);
}

}  // namespace

HttpEndpoint::AnswerFormat HttpEndpoint::format_of(const HttpRequest& request) {
  if (!takes_events(request)) return {};
  const std::string accept = request.header("Accept");
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

/// The events of one stream as the body of one response.
class HttpEndpoint::EventBody final : public HttpStream {
 public:
  EventBody(const HttpEndpoint& endpoint, Reader reader, std::shared_ptr<OpenStream> open,
            AtEnd at_end)
      : endpoint_(endpoint),
        reader_(std::move(reader)),
        open_(std::move(open)),
        at_end_(std::move(at_end)) {}
  ~EventBody() override { at_end_(); }
  EventBody(const EventBody&) = delete;
  EventBody& operator=(const EventBody&) = delete;

  [[nodiscard]] std::string next_chunk() override {
    std::string text = std::exchange(reader_.opening, {});
    if (text.empty()) {
      reader_.events->wait(reader_.next, kCheckInterval);
      text = reader_.events->take_events(reader_.next);
    }
    const auto now = std::chrono::steady_clock::now();
    if (text.empty() && now - spoke_at_ >= endpoint_.options_.keep_alive) text = ": still here\n\n";
    if (!text.empty()) spoke_at_ = now;
    return text;
  }

  [[nodiscard]] bool is_complete() override {
    return reader_.events->take_hang_up() || reader_.events->exhausted(reader_.next) ||
           endpoint_.stop_.stop_requested();
  }

 private:
  const HttpEndpoint& endpoint_;
  Reader reader_;
  std::shared_ptr<OpenStream> open_;
  AtEnd at_end_;
  std::chrono::steady_clock::time_point spoke_at_ = std::chrono::steady_clock::now();
};

HttpEndpoint::HttpEndpoint(Dispatcher& dispatcher, Pool& pool, const HttpOptions& options,
                           std::stop_token stop)
    : dispatcher_(dispatcher),
      pool_(pool),
      options_(options),
      stop_(std::move(stop)),
      access_(options),
      shared_session_(std::make_shared<Session>(true)),
      sessions_(dispatcher.hub()) {
  dispatcher.hub().attach(shared_session_);
}

void HttpEndpoint::add_to(HttpLibrary& server) {
  server.set_filter([this, &server](const HttpRequest& request, HttpResponse& response) {
    return entry_of(server, request, response);
  });
  server.set_failure_handler([](HttpResponse& response) {
    spdlog::error("an HTTP handler threw");
    answer(response, 500, error_text(nullptr, {code::kInternalError, "Internal error", {}}));
  });
  server.add_post("/mcp", [this](const HttpRequest& request, HttpResponse& response) {
    post(request, response);
  });
  server.add_get("/mcp", [this](const HttpRequest& request, HttpResponse& response) {
    get(request, response);
  });
  server.add_delete("/mcp", [this](const HttpRequest& request, HttpResponse& response) {
    remove(request, response);
  });
  server.add_get("/healthz", [this](const HttpRequest&, HttpResponse& response) {
    const Json health{{"status", "ok"},
                      {"name", dispatcher_.options().name},
                      {"version", dispatcher_.options().version}};
    answer(response, 200, health.dump());
  });
  server.add_get("/metrics", [this](const HttpRequest&, HttpResponse& response) {
    answer(response, 200, dispatcher_.metrics().text(), "text/plain; version=0.0.4");
  });
}

HttpLibrary::Entry HttpEndpoint::entry_of(const HttpLibrary& server, const HttpRequest& request,
                                          HttpResponse& response) const {
  std::optional<std::string> origin;
  if (request.has_header("Origin")) origin = request.header("Origin");
  auto problem = access_.host_problem(request.header("Host"), origin);
  const bool for_anybody = request.path() == "/healthz";
  if (!problem && !for_anybody) problem = access_.token_problem(request.header("Authorization"));
  if (!problem && request.path() == "/mcp" && request.method() != "POST" &&
      request.method() != "GET" && request.method() != "DELETE")
    problem = HttpProblem{405, "use POST, GET or DELETE"};
  if (!problem && request.path() == "/mcp" && server.is_crowded())
    problem = HttpProblem{503, "too many calls at once; nothing was done, try again in a moment"};
  if (!problem) return for_anybody ? HttpLibrary::Entry::anybody : HttpLibrary::Entry::authorized;

  dispatcher_.metrics().refused.fetch_add(1);
  refuse(response, problem->status, problem->text);
  if (problem->status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (problem->status == 503) response.headers.emplace_back("Retry-After", "5");
  if (problem->status == 405) response.headers.emplace_back("Allow", "POST, GET, DELETE");
  // Its body is not read, and would be parsed as the next request.
  response.headers.emplace_back("Connection", "close");
  return HttpLibrary::Entry::refused;
}

void HttpEndpoint::post(const HttpRequest& request, HttpResponse& response) {
  dispatcher_.metrics().messages.fetch_add(1, std::memory_order_relaxed);
  if (!is_json(request)) return refuse(response, 415, "Content-Type must be application/json");
  auto decoded = decode_message(request.body());
  if (const auto* malformed = std::get_if<Malformed>(&decoded)) {
    dispatcher_.metrics().malformed.fetch_add(1, std::memory_order_relaxed);
    return answer(response, 400, error_text(malformed->id, malformed->error));
  }
  handle_message(request, response, std::get<Message>(std::move(decoded)));
}

std::shared_ptr<Session> HttpEndpoint::session_of(const HttpRequest& request,
                                                  const Message& message, HttpResponse& response) {
  if (!options_.sessions || claims_stateless(request, message)) return shared_session_;
  if (message.kind == Message::Kind::request && message.method == "initialize") {
    auto session = std::make_shared<Session>();
    response.headers.emplace_back(kSessionHeader, sessions_.add(session));
    return session;
  }
  if (!request.has_header(kSessionHeader)) {
    refuse(response, 400, "Mcp-Session-Id is missing; send initialize first");
    return nullptr;
  }
  auto session = sessions_.find(request.header(kSessionHeader));
  if (!session) refuse(response, 404, "unknown session; send initialize again");
  return session;
}

void HttpEndpoint::handle_message(const HttpRequest& request, HttpResponse& response,
                                  Message message) {
  const auto session = session_of(request, message, response);
  if (!session) return;
  if (message.kind != Message::Kind::request) {
    dispatcher_.notice(message, *session, nullptr);
    response.status = 202;
    return;
  }
  auto admitted =
      dispatcher_.admit(std::move(message), {true, request.joined_header(kVersionHeader)}, session);
  if (auto* reply = std::get_if<Reply>(&admitted)) return answer(response, std::move(*reply));

  auto& call = std::get<Request>(admitted);
  if (call.era == Era::stateless) {
    const Json* schema = nullptr;
    if (call.message.method == "tools/call")
      if (const auto name = string_param(call.message.params, "name");
          std::holds_alternative<std::string>(name))
        schema = dispatcher_.input_schema(std::get<std::string>(name));
    const auto lookup = [&](const std::string& name) { return request.joined_header(name); };
    if (const auto error = header_mismatch(call.message, lookup, schema))
      return answer(response, Dispatcher::refusal(call.message.id, *error, call.era));
  }
  serve(std::move(call), format_of(request), response);
}

void HttpEndpoint::serve(Request call, const AnswerFormat& format, HttpResponse& response) {
  const auto cost = dispatcher_.cost(call);
  if (cost == Dispatcher::Cost::listens) return listen(std::move(call), format, response);
  const Json& meta = call.meta();
  const bool reports = format.events && meta.is_object() && meta.contains("progressToken");
  if (cost != Dispatcher::Cost::quick || reports || format.events_first)
    return serve_in_pool(std::move(call), format, response);
  if (auto reply = dispatcher_.serve(call, stop_))
    answer(response, *std::move(reply));
  else
    response.status = 202;  // canceled: nothing may be sent
}

void HttpEndpoint::serve_in_pool(Request call, const AnswerFormat& format, HttpResponse& response) {
  const auto open = format.events ? open_stream() : nullptr;
  const Era era = call.era;
  const auto session = call.session;
  const auto lane = lane_of(dispatcher_.cost(call));
  auto events = std::make_shared<EventStream>();
  if (open) call.sink = events;
  auto gone = std::make_shared<std::stop_source>();
  const auto held = std::make_shared<Request>(std::move(call));
  const bool posted = pool_.post(lane, [this, events, gone, held] {
    const std::stop_callback on_stop(stop_, [&gone] { gone->request_stop(); });
    events->finish(dispatcher_.serve(*held, gone->get_token()));
  });
  if (!posted) return answer(response, Dispatcher::busy(*held));

  const bool stream_at_once = open && format.events_first;
  auto state = stream_at_once ? EventStream::State::talking : events->wait(0, options_.json_wait);
  while (!open && state == EventStream::State::silent && !stop_.stop_requested())
    state = events->wait(0, kCheckInterval);
  if (state == EventStream::State::finished || !open) {
    if (auto reply = events->take_reply()) return answer(response, *std::move(reply));
    response.status = 202;  // canceled: nothing may be sent
    return;
  }
  if (era == Era::legacy) {
    resumable_.add(events, session);
    return stream(
        {events, 0, format.opening_event ? events->opening_event() : ""}, open, [] {}, response);
  }
  // In this era, a client that disconnects has canceled.
  const auto at_end = [events, gone] {
    events->close();
    gone->request_stop();
  };
  stream({events}, open, at_end, response);
}

void HttpEndpoint::listen(Request call, const AnswerFormat& format, HttpResponse& response) {
  if (!format.events) return refuse(response, 406, "Accept must list text/event-stream");
  auto open = open_stream();
  if (!open) {
    refuse(response, 503, "too many open streams");
    response.headers.emplace_back("Retry-After", "5");
    return;
  }
  auto events = std::make_shared<EventStream>();
  call.sink = events;
  auto opened = dispatcher_.listen(call);
  if (auto* reply = std::get_if<Reply>(&opened)) return answer(response, std::move(*reply));
  const auto at_end = [this, events, listener = std::get<std::shared_ptr<Hub::Listener>>(opened)] {
    events->close();
    dispatcher_.hub().remove(listener);
  };
  stream({events}, std::move(open), at_end, response);
}

void HttpEndpoint::get(const HttpRequest& request, HttpResponse& response) {
  const bool legacy =
      !request.has_header(kVersionHeader) || is_legacy_version(request.header(kVersionHeader));
  if (!legacy) {
    response.headers.emplace_back("Allow", "POST");
    return refuse(response, 405,
                  "this protocol version has no GET stream; use subscriptions/listen");
  }
  if (!takes_events(request)) return refuse(response, 406, "Accept must list text/event-stream");
  auto session = shared_session_;
  if (options_.sessions) {
    if (!request.has_header(kSessionHeader))
      return refuse(response, 400, "Mcp-Session-Id is missing; send initialize first");
    session = sessions_.find(request.header(kSessionHeader));
    if (!session) return refuse(response, 404, "unknown session; send initialize again");
  }
  std::optional<ResumableStreams::Place> place;
  if (request.has_header(kLastEventHeader)) {
    place = resumable_.after(request.header(kLastEventHeader), *session);
    if (!place)
      return refuse(response, 400, "the events after this Last-Event-ID are no longer available");
  }
  auto open = open_stream();
  if (!open) {
    refuse(response, 503, "too many open streams");
    response.headers.emplace_back("Retry-After", "5");
    return;
  }
  if (place) return stream({place->stream, place->next}, std::move(open), [] {}, response);
  auto events = std::make_shared<EventStream>();
  session->attach(events);
  stream({events}, std::move(open), [events] { events->close(); }, response);
}

void HttpEndpoint::remove(const HttpRequest& request, HttpResponse& response) {
  if (!options_.sessions ||
      (request.has_header(kVersionHeader) && !is_legacy_version(request.header(kVersionHeader)))) {
    response.headers.emplace_back("Allow", "POST, GET");
    return refuse(response, 405, "this server has no sessions to end");
  }
  if (!request.has_header(kSessionHeader))
    return refuse(response, 400, "Mcp-Session-Id is missing");
  if (!sessions_.remove(request.header(kSessionHeader)))
    return refuse(response, 404, "unknown session");
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
                          HttpResponse& response) const {
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("X-Accel-Buffering", "no");
  response.content_type = "text/event-stream";
  response.stream =
      std::make_unique<EventBody>(*this, std::move(reader), std::move(open), std::move(at_end));
}

}  // namespace ratchet::mcp
