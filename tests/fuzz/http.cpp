// Whatever bytes arrive, the server answers or closes, and serves the next connection.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <string_view>
#include <thread>

#include "server/core/fd.h"
#include "server/mcp/server.h"
#include "tests/support/conformance/fixtures.h"

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

  [[nodiscard]] ratchet::Fd connect() const {
    ratchet::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      std::abort();
    return socket;
  }

 private:
  static ratchet::mcp::ServerOptions options() {
    spdlog::set_level(spdlog::level::off);
    ratchet::mcp::ServerOptions options;
    options.version = "1";
    ratchet::test::conformance::add_fixtures(options);
    return options;
  }

  ratchet::mcp::Server server_;
  int port_ = 0;
  std::jthread thread_;
};

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;  // the server closed first
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  ::shutdown(socket, SHUT_WR);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Target target;
  const ratchet::Fd connection = target.connect();
  send_all(connection.get(), {reinterpret_cast<const char*>(data), size});
  // Until the server closes. If it never does, libFuzzer's -timeout reports it.
  std::array<char, 65536> chunk{};
  while (::read(connection.get(), chunk.data(), chunk.size()) > 0) {
  }
  return 0;
}
