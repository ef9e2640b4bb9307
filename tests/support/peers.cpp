#include "tests/support/peers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <mutex>
#include <utility>

#include "server/core/text.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct EchoArgs {
  std::string text;
  static constexpr void fields(auto&& visit) {
    visit(required("text", &EchoArgs::text, "What to give back."));
  }
};

struct EchoOut {
  std::string text;
  static constexpr void fields(auto&& visit) {
    visit(required("text", &EchoOut::text, "What was given."));
  }
};

bool wait_readable(int descriptor, steady_clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
  pollfd event{descriptor, POLLIN, 0};
  return left > 0 && ::poll(&event, 1, static_cast<int>(left)) > 0;
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count <= 0) return;  // the server closed; the test sees its answer
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Appends available input to `buffer`. Returns false at the end of the input or after `until`.
bool read_some(int descriptor, std::string& buffer, steady_clock::time_point until) {
  if (!wait_readable(descriptor, until)) return false;
  std::array<char, 65536> chunk{};
  const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
  if (count <= 0) return false;
  buffer.append(chunk.data(), static_cast<std::size_t>(count));
  return true;
}

mcp::Prompt sample_prompt() {
  return {"kernel_loop",
          "Kernel loop",
          "How to work.",
          {{"run", "Run id.", true,
            [](const std::string& typed, const auto&) {
              std::vector<std::string> values;
              for (const char* run : {"gemm-1", "gemm-2", "softmax-1"})
                if (std::string_view(run).starts_with(typed)) values.emplace_back(run);
              return values;
            }}},
          [](const Json& arguments, mcp::Interaction&) -> mcp::Outcome {
            return mcp::prompt_text("", "Work on " + arguments.value("run", ""));
          }};
}

mcp::ResourceProvider sample_resources() {
  mcp::ResourceProvider provider;
  provider.scheme = "doc";
  provider.templates = {{"doc://{name}", "doc", "Doc", "A page.", "text/markdown", {}}};
  provider.list = []() -> Result<std::vector<mcp::Resource>> {
    return std::vector<mcp::Resource>{
        {"doc://loop", "loop", "The loop", "How to work.", "text/markdown", 5}};
  };
  provider.read = [](const std::string& uri) -> Result<std::vector<mcp::ResourceContents>> {
    if (uri == "doc://loop")
      return std::vector<mcp::ResourceContents>{{uri, "text/markdown", "# Loo"}};
    return Error{ErrorCode::not_found, "no such page", "List the pages."};
  };
  return provider;
}

}  // namespace

struct SampleServer::Gate {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool open = false;
  int waiting = 0;
  int cancelled = 0;

  /// Waits until released or canceled.
  void pass(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.wait(lock, stop, [this] { return open; });
    --waiting;
    if (stop.stop_requested()) ++cancelled;
  }
};

mcp::ServerOptions sample_options() {
  mcp::ServerOptions options;
  options.name = "sample";
  options.version = "7";
  options.instructions = "Search here for kernels.";
  options.tools.push_back(mcp::offered(make_tool<EchoArgs, EchoOut>(
      {.name = "echo", .summary = "Gives the text back.", .always_load = true},
      [](const EchoArgs& args, CallContext&) -> Result<EchoOut> { return EchoOut{args.text}; })));
  options.tools.push_back(mcp::offered(make_tool<NoArgs, EchoOut>(
      {.name = "measure", .summary = "Reports progress.", .effect = Effect::uses_device},
      [](const NoArgs&, CallContext& call) -> Result<EchoOut> {
        // The second report repeats the first value; progress on the wire must still increase.
        for (const double done : {1.0, 1.0, 2.0}) call.progress(done, 2.0, "sampling");
        return EchoOut{"measured"};
      })));
  options.tools.push_back(mcp::offered(make_tool<NoArgs, EchoOut>(
      {.name = "erase", .summary = "Hides work.", .effect = Effect::destroys, .idempotent = true},
      [](const NoArgs&, CallContext& call) -> Result<EchoOut> {
        switch (call.confirm("Erase everything?")) {
          case Consent::granted:
            return EchoOut{"erased"};
          case Consent::refused:
            return EchoOut{"kept"};
          default:
            return Error{ErrorCode::not_permitted, "not confirmed", "Pass confirm."};
        }
      })));
  options.prompts.push_back(sample_prompt());
  options.resources.push_back(sample_resources());
  return options;
}

SampleServer::SampleServer() : gate_(std::make_shared<Gate>()) {
  auto options = sample_options();
  for (const auto& [name, effect] :
       {std::pair{"wait", Effect::reads}, std::pair{"occupy", Effect::uses_device}})
    options.tools.push_back(mcp::offered(make_tool<NoArgs, EchoOut>(
        {.name = name, .summary = "Waits.", .effect = effect},
        [gate = gate_](const NoArgs&, CallContext& call) -> Result<EchoOut> {
          gate->pass(call.stop());
          return EchoOut{"waited"};
        })));
  server = std::make_unique<mcp::Server>(std::move(options));
}

void SampleServer::release() {
  {
    const std::lock_guard lock(gate_->mutex);
    gate_->open = true;
  }
  gate_->changed.notify_all();
}

int SampleServer::waiting() const {
  const std::lock_guard lock(gate_->mutex);
  return gate_->waiting;
}

int SampleServer::canceled() const {
  const std::lock_guard lock(gate_->mutex);
  return gate_->cancelled;
}

StdioPeer::StdioPeer(mcp::Server& server) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
  to_server_.reset(in[1]);
  from_server_.reset(out[0]);
  thread_ = std::thread([&server, input = in[0], output = out[1]] {
    const Fd input_end(input);
    const Fd output_end(output);
    server.serve_stdio(input, output, {});
  });
}

StdioPeer::~StdioPeer() {
  to_server_.reset();
  if (thread_.joinable()) thread_.join();
}

void StdioPeer::send_text(std::string_view line) {
  write_all(to_server_.get(), std::string(line) + "\n");
}

Json StdioPeer::receive(milliseconds limit) {
  const auto until = steady_clock::now() + limit;
  while (true) {
    const auto newline = buffer_.find('\n');
    if (newline != std::string::npos) {
      const Json message = Json::parse(buffer_.substr(0, newline));
      buffer_.erase(0, newline + 1);
      return message;
    }
    if (!read_some(from_server_.get(), buffer_, until)) return nullptr;
  }
}

milliseconds StdioPeer::finish() {
  const auto start = steady_clock::now();
  to_server_.reset();
  thread_.join();
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
}

std::vector<Json> HttpAnswer::messages() const {
  const auto type = headers.find("content-type");
  if (type == headers.end() || body.empty()) return {};
  if (type->second == "application/json") return {Json::parse(body)};
  std::vector<Json> found;
  constexpr std::string_view kData = "data: ";
  for (std::size_t at = body.find(kData); at != std::string::npos; at = body.find(kData, at + 1))
    found.push_back(
        Json::parse(body.substr(at + kData.size(), body.find('\n', at) - at - kData.size())));
  return found;
}

HttpConnection::HttpConnection(int port, const char* from)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in own{};
  own.sin_family = AF_INET;
  ::inet_pton(AF_INET, from, &own.sin_addr);
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
    socket_.reset();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    socket_.reset();
}

void HttpConnection::send(std::string_view bytes) {
  write_all(socket_.get(), bytes);
}

void HttpConnection::finish_sending() {
  ::shutdown(socket_.get(), SHUT_WR);
}

bool HttpConnection::fill(steady_clock::time_point until) {
  return read_some(socket_.get(), buffer_, until);
}

std::string HttpConnection::receive_until(std::string_view text, milliseconds limit) {
  const auto until = steady_clock::now() + limit;
  std::size_t at = std::string::npos;
  while ((at = buffer_.find(text)) == std::string::npos)
    if (!fill(until)) return std::exchange(buffer_, {});
  std::string seen = buffer_.substr(0, at + text.size());
  buffer_.erase(0, seen.size());
  return seen;
}

HttpAnswer HttpConnection::receive(milliseconds limit) {
  HttpAnswer answer;
  const std::string head = receive_until("\r\n\r\n", limit);
  if (!head.starts_with("HTTP/1.1 ")) return answer;
  answer.status = std::stoi(head.substr(9, 3));
  for (std::size_t at = head.find("\r\n") + 2; at + 2 < head.size();) {
    const auto end = head.find("\r\n", at);
    const auto colon = head.find(": ", at);
    answer.headers[lowered(head.substr(at, colon - at))] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  const auto until = steady_clock::now() + limit;
  if (answer.headers.contains("content-length")) {
    const auto length = std::stoul(answer.headers["content-length"]);
    while (buffer_.size() < length && fill(until)) {
    }
    answer.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
  } else if (answer.headers["transfer-encoding"] == "chunked") {
    while (true) {
      const std::string size = receive_until("\r\n", limit);
      const auto length = size.empty() ? 0 : std::stoul(size, nullptr, 16);
      while (buffer_.size() < length + 2 && fill(until)) {
      }
      answer.body += buffer_.substr(0, length);
      buffer_.erase(0, length + 2);
      if (length == 0) break;
    }
  }
  return answer;
}

std::string post_text(const std::string& body, const HeaderList& extra) {
  HeaderList headers{{"Host", "127.0.0.1"},
                     {"Content-Type", "application/json"},
                     {"Accept", "application/json, text/event-stream"},
                     {"Content-Length", std::to_string(body.size())}};
  const Json message = Json::parse(body, nullptr, false);
  if (message.is_object() && message.contains("params") && message["params"].is_object()) {
    const Json params = message["params"];
    const Json meta = params.value("_meta", Json::object());
    if (meta.is_object() && meta.contains(mcp::key::kProtocolVersion)) {
      headers["MCP-Protocol-Version"] = meta.value(std::string(mcp::key::kProtocolVersion), "");
      headers["Mcp-Method"] = message.value("method", "");
      const char* name = message["method"] == "resources/read" ? "uri" : "name";
      if (params.contains(name) && params[name].is_string())
        headers["Mcp-Name"] = params[name].get<std::string>();
    }
  }
  for (const auto& [name, value] : extra) headers[name] = value;
  std::string text = "POST /mcp HTTP/1.1\r\n";
  for (const auto& [name, value] : headers)
    if (!value.empty()) text += fmt::format("{}: {}\r\n", name, value);
  return text + "\r\n" + body;
}

HttpPeer::HttpPeer(mcp::Server& server, mcp::HttpOptions options) {
  std::promise<int> listening;
  auto port = listening.get_future();
  options.port = 0;
  options.no_auth = options.token.empty();
  options.on_listening = [&listening](int number) { listening.set_value(number); };
  thread_ = std::jthread([&server, options = std::move(options)](const std::stop_token& stop) {
    (void)server.serve_http(options, stop);
  });
  port_ = port.get();
}

HttpPeer::~HttpPeer() = default;

HttpAnswer HttpPeer::exchange(std::string_view bytes) const {
  HttpConnection connection(port_);
  connection.send(bytes);
  return connection.receive();
}

Json legacy(Json id, const std::string& method, Json params) {
  return {
      {"jsonrpc", "2.0"}, {"id", std::move(id)}, {"method", method}, {"params", std::move(params)}};
}

Json stateless(Json id, const std::string& method, Json params, Json capabilities) {
  params["_meta"][std::string(mcp::key::kProtocolVersion)] = mcp::kStatelessVersion;
  params["_meta"][std::string(mcp::key::kClientCapabilities)] = std::move(capabilities);
  return legacy(std::move(id), method, std::move(params));
}

bool contains(const Json& seen, const Json& wanted) {
  if (wanted == "*") return true;
  if (wanted.is_object()) {
    if (!seen.is_object()) return false;
    for (const auto& [key, value] : wanted.items())
      if (!seen.contains(key) || !contains(seen[key], value)) return false;
    return true;
  }
  if (!wanted.is_array()) return seen == wanted;
  return seen.is_array() && std::equal(seen.begin(), seen.end(), wanted.begin(), wanted.end(),
                                       [](const Json& a, const Json& b) { return contains(a, b); });
}

}  // namespace ratchet::test
