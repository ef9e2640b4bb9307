// Whatever bytes arrive, the server answers or closes, and serves the next connection. A head that
// is passed on is within the limits, and is its own clean form.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <future>
#include <string_view>
#include <system_error>
#include <thread>

#include "server/core/fd.h"
#include "server/mcp/http/head.h"
#include "server/mcp/server.h"
#include "tests/fuzz/fuzzers.h"
#include "tests/support/conformance/fixtures.h"

namespace ratchet::fuzz {
namespace {

/// One server with the conformance fixtures, shared by all inputs.
class Target {
 public:
  Target() : server_(options()) {
    std::promise<int> listening;
    auto port = listening.get_future();
    thread_ = std::jthread([this, &listening](const std::stop_token& stop) {
      (void)server_.serve_http(
          {.port = 0,
           .no_auth = true,
           .json_wait = std::chrono::milliseconds(20),
           .on_listening = [&listening](int number) { listening.set_value(number); }},
          stop);
    });
    port_ = port.get();
  }

  /// From another of this machine's addresses each time: the ports of one run out, because a
  /// connection keeps its port for a minute after its end.
  [[nodiscard]] Fd connect() {
    const auto from = address_of(INADDR_LOOPBACK + connections_++ % 0xFFFF, 0);
    const auto to = address_of(INADDR_LOOPBACK, port_);
    while (true) {
      Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0 &&
          ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0)
        return socket;
      if (errno != EINTR)  // libFuzzer's clock
        throw std::system_error(errno, std::generic_category(), "no connection to the server");
    }
  }

 private:
  static mcp::ServerOptions options() {
    spdlog::set_level(spdlog::level::off);
    mcp::ServerOptions options;
    options.version = "1";
    test::conformance::add_fixtures(options);
    return options;
  }

  static sockaddr_in address_of(std::uint32_t host, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(host);
    return address;
  }

  mcp::Server server_;
  int port_ = 0;
  std::uint32_t connections_ = 0;
  std::jthread thread_;
};

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;  // the server closed first
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  ::shutdown(socket, SHUT_WR);
}

void check_head(std::string_view head) {
  const mcp::HeadLimits limits;
  const auto checked = mcp::clean_head(head, limits);
  const auto* clean = std::get_if<mcp::CleanHead>(&checked);
  if (!clean) {
    const int status = std::get<mcp::HttpProblem>(checked).status;
    require(status >= 400 && status < 600, "a refusal has a status of errors");
    return;
  }
  const std::string_view kept = clean->text;
  require(kept.ends_with("\r\n\r\n") && kept.find("\r\n\r\n") + 4 == kept.size(),
          "a clean head ends at its first empty line");
  require(clean->body_bytes <= limits.body_bytes, "a body is within the limit");
  require(!clean->chunked || clean->body_bytes == 0, "a body has one kind of framing");
  const auto again = mcp::clean_head(kept, limits);
  const auto* same = std::get_if<mcp::CleanHead>(&again);
  require(same && same->text == kept && same->chunked == clean->chunked &&
              same->body_bytes == clean->body_bytes,
          "a clean head is its own clean form");
}

}  // namespace

void http(std::string_view bytes) {
  check_head(bytes.substr(0, std::min(bytes.find("\r\n\r\n"), bytes.size()) + 4));
  static Target target;
  const Fd connection = target.connect();
  send_all(connection.get(), bytes);
  // Until the server closes; that it never does would be a timeout.
  std::array<char, 65536> chunk{};
  ssize_t count = 1;
  while (count > 0 || (count < 0 && errno == EINTR))
    count = ::read(connection.get(), chunk.data(), chunk.size());
}

}  // namespace ratchet::fuzz
