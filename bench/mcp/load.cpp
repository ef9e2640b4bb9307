#include "bench/mcp/load.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "server/core/fd.h"
#include "server/core/fields.h"
#include "server/core/process.h"
#include "server/core/text.h"

namespace ratchet::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAnswerLimitMs = 30'000;

[[noreturn]] void die(std::string_view what) {
  fmt::print(stderr, "bench-mcp: {}\n", what);
  std::exit(EXIT_FAILURE);
}

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

std::string opening_text() {
  return Json{{"jsonrpc", "2.0"},
              {"id", 0},
              {"method", "initialize"},
              {"params",
               {{"protocolVersion", "2025-11-25"},
                {"capabilities", Json::object()},
                {"clientInfo", {{"name", "bench"}, {"version", "1"}}}}}}
      .dump();
}

std::string initialized_text() {
  return R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
}

std::string call_text(std::size_t id, bool stateless) {
  constexpr const char* kMeta =
      R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{}})";
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"test_simple_text",)"
      R"("arguments":{{}}{}}}}})",
      id, stateless ? kMeta : "");
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count <= 0) die("the server went away");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void read_some(int descriptor, std::string& buffer) {
  // Not cleared: that would cost the generator more than the answers.
  static thread_local std::array<char, 65536> chunk;
  const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
  if (count <= 0) die("the server went away");
  buffer.append(chunk.data(), static_cast<std::size_t>(count));
}

void wait_readable(std::vector<pollfd>& events) {
  if (::poll(events.data(), events.size(), kAnswerLimitMs) <= 0) die("the server does not answer");
}

/// The number after `"id":`.
std::optional<std::size_t> id_of(std::string_view answer) {
  constexpr std::string_view kId = "\"id\":";
  const auto at = answer.find(kId);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t id = 0;
  const auto read =
      std::from_chars(answer.data() + at + kId.size(), answer.data() + answer.size(), id);
  return read.ec == std::errc() ? std::optional(id) : std::nullopt;
}

/// The length of the first HTTP answer in `buffer`; empty while it is incomplete.
std::optional<std::size_t> http_answer_size(const std::string& buffer) {
  const auto head = buffer.find("\r\n\r\n");
  if (head == std::string::npos) return std::nullopt;
  const std::string lower = lowered(buffer.substr(0, head + 2));
  constexpr std::string_view kLength = "\r\ncontent-length: ";
  std::size_t end = head + 4;
  if (const auto at = lower.find(kLength); at != std::string::npos) {
    end += std::strtoul(lower.c_str() + at + kLength.size(), nullptr, 10);
    return buffer.size() >= end ? std::optional(end) : std::nullopt;
  }
  if (lower.find("\r\ntransfer-encoding: chunked") == std::string::npos) return end;
  const auto last = buffer.find("\r\n0\r\n\r\n", head);
  return last == std::string::npos ? std::nullopt : std::optional(last + 7);
}

class Server {
 public:
  explicit Server(const std::vector<std::string>& argv, std::vector<std::string> environment) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) die("no pipe");
    const Fd child_in(in[0]);
    const Fd child_out(out[1]);
    to_.reset(in[1]);
    from_.reset(out[0]);
    for (auto& variable : inherited_environment({"PATH", "HOME", "XDG_STATE_HOME"}))
      environment.push_back(std::move(variable));
    auto started = Process::spawn({.argv = argv,
                                   .environment = std::move(environment),
                                   .descriptors = {{child_in.get(), STDIN_FILENO},
                                                   {child_out.get(), STDOUT_FILENO},
                                                   {STDERR_FILENO, STDERR_FILENO}}});
    if (!started) die(started.error().message);
    process_.emplace(*std::move(started));
  }

  [[nodiscard]] int to() const { return to_.get(); }
  [[nodiscard]] int from() const { return from_.get(); }
  [[nodiscard]] std::string proc() const { return fmt::format("/proc/{}", process_->pid()); }

 private:
  Fd to_;
  Fd from_;
  std::optional<Process> process_;
};

/// Processor time of all threads so far, from the kernel's nanosecond accounting.
double cpu_us(const Server& server) {
  double nanoseconds = 0;
  for (const auto& task : std::filesystem::directory_iterator(server.proc() + "/task")) {
    double one = 0;
    std::ifstream(task.path() / "schedstat") >> one;
    nanoseconds += one;
  }
  return nanoseconds / 1000;
}

Fd connect_to(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int attempt = 0; attempt < 10'000; ++attempt) {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      const int on = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return socket;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  die("the server does not listen");
}

struct Connection {
  Fd socket;
  std::string buffer;
};

}  // namespace

struct Load::Parts {
  Parts(const Contender& contender, int most)
      : stateless(contender.stateless),
        port(contender.port),
        in_flight(most),
        server(contender.argv, contender.environment) {}

  const bool stateless;
  const int port;
  const int in_flight;
  Server server;
  std::string buffer;  ///< stdio
  std::vector<Connection> connections;
  std::string session;
  std::size_t sent = 0;
  std::vector<std::optional<Clock::time_point>> open;  ///< by id; empty once answered
  std::vector<double> latencies;

  std::string call() {
    open.emplace_back(Clock::now());
    return call_text(sent++, stateless);
  }

  void answered(std::string_view answer) {
    const auto id = id_of(answer);
    if (!id || *id >= open.size() || !open[*id])
      die(fmt::format("an answer without a request: {}", answer.substr(0, 300)));
    if (answer.find(kSaid) == std::string_view::npos)
      die(fmt::format("a wrong answer: {}", answer.substr(0, 300)));
    latencies.push_back(microseconds_since(*open[*id]));
    open[*id].reset();
  }

  [[nodiscard]] std::string post(const std::string& body) const {
    const std::string_view era =
        stateless ? "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: "
                    "test_simple_text\r\n"
                  : "MCP-Protocol-Version: 2025-11-25\r\n";
    return fmt::format(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: "
        "application/json, text/event-stream\r\n{}{}Content-Length: {}\r\n\r\n{}",
        era, session, body.size(), body);
  }

  std::string exchange(Connection& connection, const std::string& body) {
    write_all(connection.socket.get(), post(body));
    std::vector<pollfd> events{{connection.socket.get(), POLLIN, 0}};
    while (true) {
      if (const auto size = http_answer_size(connection.buffer)) {
        std::string answer = connection.buffer.substr(0, *size);
        connection.buffer.erase(0, *size);
        return answer;
      }
      wait_readable(events);
      read_some(connection.socket.get(), connection.buffer);
    }
  }

  void shake_hands_on_stdio() {
    write_all(server.to(), opening_text() + "\n");
    std::vector<pollfd> events{{server.from(), POLLIN, 0}};
    while (buffer.find('\n') == std::string::npos) {
      wait_readable(events);
      read_some(server.from(), buffer);
    }
    buffer.clear();
    write_all(server.to(), initialized_text() + "\n");
  }

  void shake_hands_on_http() {
    const std::string answer = exchange(connections.front(), opening_text());
    constexpr std::string_view kHeader = "\r\nmcp-session-id: ";
    const std::string lower = lowered(answer);
    if (const auto at = lower.find(kHeader); at != std::string::npos)
      session =
          "Mcp-Session-Id: " +
          answer.substr(at + kHeader.size(), answer.find('\r', at + 2) - at - kHeader.size()) +
          "\r\n";
    exchange(connections.front(), initialized_text());
  }

  /// As real clients do: one write per call, and each answer makes room for the next call.
  void run_stdio(int calls) {
    int left = calls;
    const auto send = [&] {
      if (left-- > 0) write_all(server.to(), call() + "\n");
    };
    for (int i = 0; i < in_flight; ++i) send();
    for (int done = 0; done < calls;) {
      read_some(server.from(), buffer);
      std::size_t start = 0;
      for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n', start)) {
        answered(std::string_view(buffer).substr(start, end - start));
        start = end + 1;
        ++done;
        send();
      }
      buffer.erase(0, start);
    }
  }

  void run_http(int calls) {
    std::vector<pollfd> events;
    int left = calls;
    for (auto& connection : connections) {
      events.push_back({connection.socket.get(), POLLIN, 0});
      if (left-- > 0) write_all(connection.socket.get(), post(call()));
    }
    for (int done = 0; done < calls;) {
      wait_readable(events);
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].revents == 0) continue;
        auto& [socket, received] = connections[i];
        read_some(socket.get(), received);
        const auto size = http_answer_size(received);
        if (!size) continue;
        answered(std::string_view(received).substr(0, *size));
        received.erase(0, *size);
        ++done;
        if (left-- > 0) write_all(socket.get(), post(call()));
      }
    }
  }
};

Load::Load(const Contender& contender, int in_flight)
    : parts_(std::make_unique<Parts>(contender, in_flight)) {
  for (int i = 0; contender.port != 0 && i < in_flight; ++i)
    parts_->connections.push_back({connect_to(contender.port), {}});
  if (contender.stateless) return;
  if (contender.port == 0)
    parts_->shake_hands_on_stdio();
  else
    parts_->shake_hands_on_http();
}

Load::~Load() = default;

Cost Load::run(int calls) {
  auto& latencies = parts_->latencies;
  latencies.clear();
  latencies.reserve(static_cast<std::size_t>(calls));
  const double cpu_before = cpu_us(parts_->server);
  const auto start = Clock::now();
  if (parts_->port == 0)
    parts_->run_stdio(calls);
  else
    parts_->run_http(calls);
  const double elapsed_us = microseconds_since(start);
  std::ranges::sort(latencies);
  const auto at = [&](double part) {
    return latencies[static_cast<std::size_t>(part * static_cast<double>(latencies.size() - 1))];
  };
  return {.calls_per_second = calls / elapsed_us * 1e6,
          .cpu_us = (cpu_us(parts_->server) - cpu_before) / calls,
          .p50_us = at(0.5),
          .p99_us = at(0.99)};
}

std::size_t Load::server_kib() const {
  std::ifstream status(parts_->server.proc() + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::strtoul(line.c_str() + 8, nullptr, 10);
  return 0;
}

double start_ms(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  const auto start = Clock::now();
  const Server server(argv, environment);
  write_all(server.to(), opening_text() + "\n");
  std::vector<pollfd> events{{server.from(), POLLIN, 0}};
  std::string answer;
  while (answer.find('\n') == std::string::npos) {
    wait_readable(events);
    read_some(server.from(), answer);
  }
  return microseconds_since(start) / 1000;
}

}  // namespace ratchet::bench
