#include "kernels/labs/lab_service.h"

#include <signal.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <optional>
#include <thread>

#include "server/core/process.h"
#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;
using namespace std::chrono_literals;

namespace {

/// A lab that serves one end of two pipes on a thread of its own, and the server's end of them.
struct Served : LabFixture {
  Served() {
    ::signal(SIGPIPE, SIG_IGN);
    auto to_lab = Pipe::open();
    auto from_lab = Pipe::open();
    REQUIRE((to_lab && from_lab));
    server.emplace(std::move(from_lab->out), std::move(to_lab->in));
    thread = std::jthread([this, in = std::move(to_lab->out),
                           out = std::move(from_lab->in)](const std::stop_token& stop) mutable {
      LabStream stream(std::move(in), std::move(out));
      served =
          serve_lab(*lab, stream, "test", folder / "texts", stop, [this] { ended = true; }, 1500ms);
      over = true;
    });
    REQUIRE(server->receive(10s));  // its greeting
  }

  [[nodiscard]] bool ends_within(std::chrono::milliseconds limit) const {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!over && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20ms);
    return over;
  }

  std::optional<LabStream> server;
  Status served;
  std::atomic<bool> ended = false, over = false;
  std::jthread thread;
};

}  // namespace

TEST_CASE("a lab ends when its server has said nothing for long, and says why", "[labs][slow]") {
  Served lab;

  REQUIRE(lab.ends_within(20s));

  CHECK(lab.ended);
  REQUIRE_FALSE(lab.served);
  CHECK(lab.served.error().message == "lab: its server has said nothing for 2 s, so it ends");
}

TEST_CASE("a lab stays for a server that only says that it is alive", "[labs][slow]") {
  Served lab;

  for (int i = 0; i < 16; ++i) {
    lab.server->say_alive();
    std::this_thread::sleep_for(250ms);
  }
  CHECK_FALSE(lab.over);
  lab.server->close_output();

  REQUIRE(lab.ends_within(20s));
  CHECK(lab.served);
}
