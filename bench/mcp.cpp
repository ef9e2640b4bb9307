// What the protocol layer costs: calls per second and processor time of the server per call, 16 in
// flight, beside a floor that only parses a request and builds its answer. Client and server share
// the machine, so compare rows of one run only.
//
// Usage: bench-mcp                 measures everything; each server is this program, started again
//        bench-mcp stdio           the fixture server alone, for other load generators
//        bench-mcp http PORT       the same over HTTP
//        bench-mcp floor-stdio     the floors alone
//        bench-mcp floor-http PORT

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/core/fd.h"
#include "server/core/process.h"
#include "server/mcp/server.h"

namespace {

using ratchet::Fd;
using ratchet::Json;
using ratchet::Process;
using Clock = std::chrono::steady_clock;

constexpr int kInFlight = 16;
constexpr int kCalls = 40'000;
constexpr int kPort = 18'383;

// ------------------------------------------------------------------------------------- the servers

std::string floor_answer(const std::string& body) {
  const Json request = Json::parse(body);
  const Json text{{"type", "text"}, {"text", request.at("params").at("name")}};
  return Json{
      {"jsonrpc", "2.0"}, {"id", request.at("id")}, {"result", {{"content", Json::array({text})}}}}
      .dump();
}

int serve_floor_stdio() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);)
    std::cout << floor_answer(line) << '\n' << std::flush;
  return 0;
}

int serve_floor_http(int port) {
  httplib::Server server;
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(100'000'000);
  server.new_task_queue = [] { return new httplib::ThreadPool(2 * kInFlight); };
  server.Post("/mcp", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(floor_answer(request.body), "application/json");
  });
  return server.listen("127.0.0.1", port) ? 0 : 1;
}

int serve_ours(bool http, int port) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("bench-mcp"));
  auto output = ratchet::mcp::claim_stdout();
  if (!output) return 1;
  ratchet::mcp::ServerOptions options;
  options.version = "1";
  ratchet::mcp::add_conformance_fixtures(options);
  ratchet::mcp::Server server(std::move(options));
  if (!http) return server.serve_stdio(STDIN_FILENO, *output, {});
  const auto served = server.serve_http({.port = port}, {});
  if (!served) spdlog::error("{}", served.error().message);
  return served ? 0 : 1;
}

// ------------------------------------------------------------------------------------- the clients

std::string call_text(int id, bool stateless) {
  Json params{{"name", "test_simple_text"}, {"arguments", Json::object()}};
  if (stateless)
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", params}}.dump();
}

std::string post_text(int id, bool stateless) {
  const std::string body = call_text(id, stateless);
  const char* headers = stateless ? "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                                    "Mcp-Name: test_simple_text\r\n"
                                  : "";
  return fmt::format(
      "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: "
      "application/json, text/event-stream\r\n{}Content-Length: {}\r\n\r\n{}",
      headers, body.size(), body);
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count <= 0) std::exit(1);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Reads once and counts how often `mark` came.
int count_answers(int descriptor, std::string_view mark) {
  std::array<char, 65536> chunk{};
  const ssize_t size = ::read(descriptor, chunk.data(), chunk.size());
  if (size <= 0) std::exit(1);
  const std::string_view seen(chunk.data(), static_cast<std::size_t>(size));
  int count = 0;
  for (auto at = seen.find(mark); at != std::string_view::npos; at = seen.find(mark, at + 1))
    ++count;
  return count;
}

void load_stdio(int to, int from, bool stateless) {
  int sent = 0;
  for (; sent < kInFlight; ++sent) write_all(to, call_text(sent, stateless) + "\n");
  for (int done = 0; done < kCalls;) {
    const int answers = count_answers(from, "\n");
    done += answers;
    for (int i = 0; i < answers && sent < kCalls; ++i)
      write_all(to, call_text(sent++, stateless) + "\n");
  }
}

Fd connect_to(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int attempt = 0; attempt < 2000; ++attempt) {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return socket;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::exit(1);
}

void load_http(int port, bool stateless) {
  std::vector<Fd> sockets;
  std::vector<pollfd> events;
  int sent = 0;
  for (; sent < kInFlight; ++sent) {
    sockets.push_back(connect_to(port));
    events.push_back({sockets.back().get(), POLLIN, 0});
    write_all(sockets.back().get(), post_text(sent, stateless));
  }
  for (int done = 0; done < kCalls;) {
    ::poll(events.data(), events.size(), -1);
    for (const auto& event : events) {
      if (event.revents == 0) continue;
      // An answer's body is the only place that holds this; its last packet brings it.
      if (count_answers(event.fd, "\"jsonrpc\"") == 0) continue;
      ++done;
      if (sent < kCalls) write_all(event.fd, post_text(sent++, stateless));
    }
  }
}

// ------------------------------------------------------------------------------------ the
// measuring

double children_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measure(const char* what, const std::string& mode, bool http, bool stateless, int port) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::exit(1);
  Fd server_in(in[0]);
  Fd to_server(in[1]);
  Fd from_server(out[0]);
  Fd server_out(out[1]);
  const double before = children_seconds();
  auto server = Process::spawn(
      {.argv = {"/proc/self/exe", mode, std::to_string(port)},
       .descriptors = {{server_in.get(), 0}, {server_out.get(), 1}, {STDERR_FILENO, 2}}});
  if (!server) std::exit(1);
  server_in.reset();
  server_out.reset();
  if (http) connect_to(port).reset();
  const auto start = Clock::now();
  if (http)
    load_http(port, stateless);
  else
    load_stdio(to_server.get(), from_server.get(), stateless);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  server->kill();
  fmt::print("{:<28} {:>12.0f} {:>16.1f}\n", what, kCalls / seconds,
             (children_seconds() - before) * 1e6 / kCalls);
}

int measure_all() {
  fmt::print("{:<28} {:>12} {:>16}\n", "16 in flight", "calls/s", "server µs/call");
  measure("stdio, floor", "floor-stdio", false, false, 0);
  measure("stdio, legacy", "stdio", false, false, 0);
  measure("stdio, stateless", "stdio", false, true, 0);
  measure("HTTP, floor", "floor-http", true, false, kPort);
  measure("HTTP, legacy", "http", true, false, kPort + 1);
  measure("HTTP, stateless", "http", true, true, kPort + 2);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const int port = argc > 2 ? std::atoi(argv[2]) : kPort;
  if (mode == "stdio" || mode == "http") return serve_ours(mode == "http", port);
  if (mode == "floor-stdio") return serve_floor_stdio();
  if (mode == "floor-http") return serve_floor_http(port);
  return measure_all();
}
