#include "server/serve.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <utility>

#include "server/core/files.h"
#include "server/core/tool.h"

namespace ratchet {
namespace {

Result<mcp::HttpOptions> http_options(const ServeOptions& options) {
  auto endpoint = parse_endpoint(*options.http);
  if (!endpoint) return endpoint.error();
  mcp::HttpOptions http;
  http.host = endpoint->host;
  http.port = endpoint->port;
  http.sessions = options.sessions;
  http.force_old_library = options.force_old_http;
  if (!options.token_file.empty()) {
    auto token = read_file(options.token_file, 4096);
    if (!token) return token.error();
    while (!token->empty() && std::isspace(static_cast<unsigned char>(token->back())))
      token->pop_back();
    http.token = *std::move(token);
  }
  return http;
}

}  // namespace

void add_serve_options(CLI::App& app, ServeOptions& options) {
  app.add_option("--http", options.http, "[HOST:]PORT; default host 127.0.0.1")
      ->expected(0, 1)
      ->default_str("8383");
  app.add_option("--token-file", options.token_file,
                 "File with the bearer token; required beyond loopback");
  app.add_flag("--sessions", options.sessions, "Issue session ids to legacy HTTP clients");
  app.add_flag("--force-old-http", options.force_old_http,
               "Bind beyond loopback even with an old HTTP library");
}

Result<Endpoint> parse_endpoint(const std::string& text) {
  Endpoint endpoint;
  if (text.empty()) return endpoint;
  std::string port = text;
  if (const auto colon = text.rfind(':'); colon != std::string::npos) {
    endpoint.host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (endpoint.host.size() > 2 && endpoint.host.front() == '[' && endpoint.host.back() == ']')
      endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  }
  const auto [stop, code] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  const bool whole = code == std::errc{} && stop == port.data() + port.size();
  if (!whole || endpoint.host.empty() || endpoint.port < 0 || endpoint.port > 65535)
    return invalid_argument(fmt::format("--http: must be [HOST:]PORT, got {}", text));
  return endpoint;
}

int serve(mcp::Server& server, const ServeOptions& options, std::string_view program,
          const std::stop_token& stop) {
  if (!options.http) {
    auto output = mcp::claim_stdout();
    if (!output) return fail(output.error());
    return server.serve_stdio(STDIN_FILENO, *output, stop);
  }
  auto http = http_options(options);
  if (!http) return fail(http.error());
  http->on_listening = [&](int port) {
    spdlog::info("{} listens on http://{}:{}/mcp (cpp-httplib {})", program, http->host, port,
                 mcp::http_library_version());
  };
  auto served = server.serve_http(*http, stop);
  return served ? *served : fail(served.error());
}

int fail(const Error& error) {
  fmt::print(stderr, "ratchet: {}\n", error_answer(error).text);
  return 1;
}

std::jthread stop_on_signals(std::stop_source& source) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return std::jthread([&source, signals](std::stop_token own) {
    const timespec nap{0, 100'000'000};
    while (!own.stop_requested())
      if (::sigtimedwait(&signals, nullptr, &nap) > 0) source.request_stop();
  });
}

}  // namespace ratchet
