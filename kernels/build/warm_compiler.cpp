#include "kernels/build/warm_compiler.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <future>
#include <thread>
#include <utility>

#include "server/core/fd.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kIdle(30 * 60 * 1000);
constexpr milliseconds kTick(20);
constexpr std::size_t kMostOutput = std::size_t{256} << 20U;

}  // namespace

/// The program, started by a thread that must outlive it (see Process).
class WarmCompiler::Waiting {
 public:
  explicit Waiting(ProcessSpec spec) : argv_(spec.argv) {
    // A socket: writing to a program that has exited then fails without raising a signal.
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    input_ = Fd(ends[1]);
    std::promise<Result<ConfinedRun>> ended;
    ended_ = ended.get_future();
    thread_ = std::jthread([spec = std::move(spec), read = Fd(ends[0]),
                            ended = std::move(ended)](const std::stop_token& stop) mutable {
      spec.descriptors.emplace_back(read.get(), STDIN_FILENO);
      ended.set_value(run_grouped(std::move(spec), kIdle, stop, kMostOutput));
    });
  }

  [[nodiscard]] bool is(const ProcessSpec& spec) const { return argv_ == spec.argv; }
  [[nodiscard]] bool waits() const {
    return ended_.valid() && ended_.wait_for(milliseconds(0)) != std::future_status::ready;
  }

  Result<ConfinedRun> run(const std::string& input, milliseconds limit,
                          const std::stop_token& stop) {
    const auto begin = steady_clock::now();
    if (!input_ || !give(input)) return unavailable("the compiler has exited");
    while (ended_.wait_for(kTick) != std::future_status::ready) {
      const bool late = steady_clock::now() - begin >= limit;
      if (!late && !stop.stop_requested()) continue;
      thread_.request_stop();
      auto stopped = ended_.get();
      if (!late) return stopped;
      ConfinedRun captured;
      captured.timed_out = true;
      return captured;
    }
    auto captured = ended_.get();
    if (captured) captured->elapsed = steady_clock::now() - begin;
    return captured;
  }

 private:
  bool give(std::string_view input) {
    while (!input.empty()) {
      const ssize_t sent = ::send(input_.get(), input.data(), input.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      input.remove_prefix(static_cast<std::size_t>(sent));
    }
    input_.reset();
    return true;
  }

  std::vector<std::string> argv_;
  Fd input_;
  std::future<Result<ConfinedRun>> ended_;
  std::jthread thread_;
};

WarmCompiler::WarmCompiler() = default;
WarmCompiler::~WarmCompiler() = default;

std::unique_ptr<WarmCompiler::Waiting> WarmCompiler::taken(const ProcessSpec& spec) {
  const std::lock_guard lock(guard_);
  auto found = std::exchange(spare_, nullptr);
  if (found && found->is(spec) && found->waits()) return found;
  return std::make_unique<Waiting>(spec);
}

Result<ConfinedRun> WarmCompiler::run(const ProcessSpec& spec, const std::string& input,
                                      milliseconds limit, const std::stop_token& stop) {
  auto captured = taken(spec)->run(input, limit, stop);
  auto next = std::make_unique<Waiting>(spec);
  const std::lock_guard lock(guard_);
  spare_ = std::move(next);
  return captured;
}

}  // namespace ratchet
