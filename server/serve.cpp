#include "server/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "server/core/fd.h"
#include "server/core/files.h"
#include "server/core/tool.h"
#include "server/terminal.h"

namespace ratchet {
namespace {

/// The token in a file that only its owner, this user or root, can read and change.
Result<std::string> read_token(const std::filesystem::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0)
    return Error{ErrorCode::not_found,
                 fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)),
                 "Make one with: (umask 077; openssl rand -hex 32 > FILE)"};
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return Error{ErrorCode::not_permitted,
                 fmt::format("{} belongs to user {}, who knows the token and can change it",
                             path.string(), info.st_uid),
                 "Use a file of the user that runs the server."};
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return Error{
        ErrorCode::not_permitted,
        fmt::format("{} is open to other users (mode {:o})", path.string(), info.st_mode & 07777U),
        fmt::format("chmod 600 {}, and use a new token if others could read this one.",
                    path.string())};
  auto token = read_open_file(file.get(), path, 4096);
  if (!token) return token.error();
  while (!token->empty() && std::isspace(static_cast<unsigned char>(token->back())))
    token->pop_back();
  if (auto weak = mcp::token_error(*token)) return weak->at(path.string());
  return token;
}

Result<mcp::HttpOptions> http_options(const ServeOptions& options) {
  auto endpoint = parse_endpoint(*options.http);
  if (!endpoint) return endpoint.error();
  mcp::HttpOptions http;
  http.host = endpoint->host;
  http.port = endpoint->port;
  http.sessions = options.sessions;
  http.force_old_library = options.force_old_http;
  http.no_auth = options.no_auth;
  if (options.token_file.empty()) return http;
  if (options.no_auth)
    return invalid_argument("--no-auth: a token is set with --token-file, too", "Leave out one.");
  auto token = read_token(options.token_file);
  if (!token) return token.error().at("--token-file");
  http.token = *std::move(token);
  return http;
}

/// For people: no line is longer than their window.
class TerminalSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    print_error({text.data(), text.size()});
  }
  void flush_() override { std::fflush(stderr); }
};

}  // namespace

void add_serve_options(CLI::App& app, ServeOptions& options) {
  app.add_option("--http", options.http, "[HOST:]PORT; default host 127.0.0.1")
      ->expected(0, 1)
      ->default_str("8383");
  app.add_option("--token-file", options.token_file,
                 "File with the bearer token of HTTP clients, readable by its owner only");
  app.add_flag("--no-auth", options.no_auth,
               "Serve HTTP without a token to every user of this machine; loopback only");
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

void log_to_stderr() {
  std::shared_ptr<spdlog::sinks::sink> sink;
  if (Terminal::behind(STDERR_FILENO).columns > 0)
    sink = std::make_shared<TerminalSink>();
  else
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("ratchet", std::move(sink)));
}

int fail(const Error& error) {
  print_error("ratchet: " + error_answer(error).text);
  return 1;
}

std::jthread stop_on_signals(std::stop_source& source) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return std::jthread([&source, signals](const std::stop_token& own) {
    const Fd arrived(::signalfd(-1, &signals, SFD_CLOEXEC));
    const Fd ended(::eventfd(0, EFD_CLOEXEC));
    const std::stop_callback wake(own, [&] { ::eventfd_write(ended.get(), 1); });
    std::array waiting{pollfd{arrived.get(), POLLIN, 0}, pollfd{ended.get(), POLLIN, 0}};
    signalfd_siginfo signal{};
    while (!own.stop_requested())
      if (::poll(waiting.data(), waiting.size(), -1) > 0 && waiting[0].revents != 0 &&
          ::read(arrived.get(), &signal, sizeof signal) > 0)
        source.request_stop();
  });
}

}  // namespace ratchet
