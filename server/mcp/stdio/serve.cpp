#include "server/mcp/stdio/serve.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "server/core/fd.h"
#include "server/mcp/stdio/line_reader.h"
#include "server/mcp/stdio/line_writer.h"

namespace ratchet::mcp {
namespace {

using std::chrono::milliseconds;

/// How long a call may keep the reading thread before another one takes over.
constexpr int kTickMs = 1;
/// Ticks without a call before the supervisor stops ticking.
constexpr int kIdleTicks = 50;
constexpr milliseconds kGrace{1000};

Fd make_event() {
  return Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void raise(const Fd& event) {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then it is readable already.
  [[maybe_unused]] const ssize_t written = ::write(event.get(), &one, sizeof one);
}

void clear(const Fd& event) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t read = ::read(event.get(), &count, sizeof count);
}

/// A descriptor that becomes readable when the parent process dies.
Fd watch_parent() {
  const pid_t parent = ::getppid();
  Fd watch(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
  if (::getppid() != parent) watch.reset();
  return watch;
}

/// Makes a pipe or socket non-blocking and restores its flags at the end. Terminals and files stay
/// as they are: a terminal's flags are shared with the shell.
class NonBlocking {
 public:
  explicit NonBlocking(int descriptor)
      : descriptor_(descriptor), flags_(::fcntl(descriptor, F_GETFL)) {
    struct stat status{};
    const bool ours =
        ::fstat(descriptor, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
    if (ours && flags_ >= 0) ::fcntl(descriptor_, F_SETFL, flags_ | O_NONBLOCK);
  }
  ~NonBlocking() {
    if (flags_ >= 0) ::fcntl(descriptor_, F_SETFL, flags_);
  }
  NonBlocking(const NonBlocking&) = delete;
  NonBlocking& operator=(const NonBlocking&) = delete;

 private:
  const int descriptor_;
  const int flags_;
};

/// One client. Shared by the tasks it started, so that a tool that does not stop keeps this object
/// alive and does not block the caller.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Dispatcher& dispatcher, Pool& pool, int input, int output)
      : dispatcher_(dispatcher),
        pool_(pool),
        session_(std::make_shared<Session>()),
        ended_(make_event()),
        supervisor_(make_event()),
        writer_(std::make_shared<LineWriter>(output, ended_.get(), stop_.get_token())),
        reader_(input, ended_.get(), kMessageLimit) {
    session_->attach(writer_);
    dispatcher_.hub().attach(session_);
  }

  void run(const std::stop_token& stop);

 private:
  enum class Next { read_on, stop_reading };

  void start_reading() {
    // This lane has no limit.
    (void)pool_.post(Pool::Lane::urgent, [self = shared_from_this()] { self->read_lines(); });
  }
  void read_lines();
  [[nodiscard]] Next handle_line(std::string_view line);
  [[nodiscard]] Next route(Request request);
  [[nodiscard]] Next serve_here(Request& request);
  void serve_in_pool(Request request, Pool::Lane lane);
  void serve(Request& request);
  void note_served();
  /// Returns when the input ended, `stop` was requested or the parent died.
  enum class End { orderly, orphaned };
  [[nodiscard]] End supervise(const std::stop_token& stop);
  void take_over_if_stuck();
  void finish(End end);

  Dispatcher& dispatcher_;
  Pool& pool_;
  std::shared_ptr<Session> session_;
  std::stop_source stop_;
  const Fd ended_;       ///< readable once no more input is wanted
  const Fd supervisor_;  ///< wakes the supervisor
  std::shared_ptr<LineWriter> writer_;
  LineReader reader_;  ///< used by the thread with the reading role

  // The reading role: 0 while its holder reads, otherwise the number of the call that it runs. The
  // thread that changes the number back to 0 holds the role from then on.
  std::atomic<std::uint64_t> running_{0};
  std::uint64_t calls_ = 0;                  ///< last number used; for the holder of the role
  std::uint64_t seen_ = 0;                   ///< the call that ran at the supervisor's last tick
  std::atomic<std::size_t> left_behind_{0};  ///< calls whose thread lost the role
  std::atomic<bool> parked_{false};
  std::atomic<bool> input_ended_{false};

  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t active_ = 0;  ///< requests being served
};

void Connection::run(const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] { raise(supervisor_); });
  start_reading();
  finish(supervise(stop));
}

void Connection::read_lines() {
  while (true) {
    std::string_view line;
    switch (reader_.next(line)) {
      case LineReader::Event::line:
        if (handle_line(line) == Next::stop_reading) return;
        break;
      case LineReader::Event::too_long:
        writer_->send(
            error_text(nullptr, {code::kInvalidRequest, "the message is larger than 16 MiB", {}}));
        break;
      case LineReader::Event::end:
        writer_->uncork();
        input_ended_ = true;
        raise(supervisor_);
        return;
    }
  }
}

Connection::Next Connection::handle_line(std::string_view line) {
  dispatcher_.metrics().messages.fetch_add(1, std::memory_order_relaxed);
  auto decoded = decode_message(line);
  if (const auto* malformed = std::get_if<Malformed>(&decoded)) {
    dispatcher_.metrics().malformed.fetch_add(1, std::memory_order_relaxed);
    writer_->send(error_text(malformed->id, malformed->error));
    return Next::read_on;
  }
  auto& message = std::get<Message>(decoded);
  if (message.kind != Message::Kind::request) {
    dispatcher_.notice(message, *session_, writer_.get());
    return Next::read_on;
  }
  auto admitted = dispatcher_.admit(std::move(message), Arrival{}, session_);
  if (auto* reply = std::get_if<Reply>(&admitted)) {
    writer_->send(std::move(reply->text));
    return Next::read_on;
  }
  return route(std::get<Request>(std::move(admitted)));
}

Connection::Next Connection::route(Request request) {
  request.sink = writer_;
  const auto cost = dispatcher_.cost(request);
  if (cost == Dispatcher::Cost::listens) {
    auto opened = dispatcher_.listen(request);
    if (auto* reply = std::get_if<Reply>(&opened)) writer_->send(std::move(reply->text));
    return Next::read_on;
  }
  {
    const std::lock_guard lock(mutex_);
    ++active_;
  }
  if (cost == Dispatcher::Cost::waits)
    serve_in_pool(std::move(request), Pool::Lane::waits);
  else if (cost == Dispatcher::Cost::slow)
    serve_in_pool(std::move(request), Pool::Lane::works);
  else if (left_behind_.load() >= dispatcher_.options().threads)
    serve_in_pool(std::move(request), Pool::Lane::reads);
  else
    return serve_here(request);
  return Next::read_on;
}

Connection::Next Connection::serve_here(Request& request) {
  if (reader_.has_line()) writer_->cork();
  const std::uint64_t call = ++calls_;
  running_.store(call);
  if (parked_.load()) raise(supervisor_);
  serve(request);
  std::uint64_t expected = call;
  if (!running_.compare_exchange_strong(expected, 0)) {
    left_behind_.fetch_sub(1);
    return Next::stop_reading;
  }
  if (!reader_.has_line()) writer_->uncork();
  return Next::read_on;
}

void Connection::serve_in_pool(Request request, Pool::Lane lane) {
  const auto held = std::make_shared<Request>(std::move(request));
  if (pool_.post(lane, [self = shared_from_this(), held] { self->serve(*held); })) return;
  writer_->send(Dispatcher::busy(*held).text);
  note_served();
}

void Connection::serve(Request& request) {
  if (auto reply = dispatcher_.serve(request, stop_.get_token()))
    writer_->send(std::move(reply->text));
  note_served();
}

void Connection::note_served() {
  const std::lock_guard lock(mutex_);
  if (--active_ == 0) idle_.notify_all();
}

Connection::End Connection::supervise(const std::stop_token& stop) {
  const Fd parent = watch_parent();
  int quiet_ticks = 0;
  while (!input_ended_ && !stop.stop_requested()) {
    const bool park = quiet_ticks >= kIdleTicks;
    parked_.store(park);
    const bool sleep = park && running_.load() == 0;
    std::array<pollfd, 2> events{{{supervisor_.get(), POLLIN, 0}, {parent.get(), POLLIN, 0}}};
    ::poll(events.data(), events.size(), sleep ? -1 : kTickMs);
    if (events[1].revents != 0) return End::orphaned;
    quiet_ticks = running_.load() == 0 ? quiet_ticks + 1 : 0;
    if (events[0].revents != 0) {
      clear(supervisor_);
      quiet_ticks = 0;
    }
    take_over_if_stuck();
  }
  return End::orderly;
}

void Connection::take_over_if_stuck() {
  std::uint64_t call = running_.load();
  if (call == 0 || call != seen_) {
    seen_ = call;
    return;
  }
  left_behind_.fetch_add(1);
  if (!running_.compare_exchange_strong(call, 0)) {
    left_behind_.fetch_sub(1);
    return;
  }
  writer_->uncork();
  start_reading();
}

void Connection::finish(End end) {
  raise(ended_);
  if (end == End::orderly) {
    std::unique_lock lock(mutex_);
    idle_.wait_for(lock, kGrace, [this] { return active_ == 0; });
  }
  stop_.request_stop();
  // The holder of the reading role either notices `ended_` or runs a call. In the latter case the
  // role is taken from it, so that nothing reads the descriptor after this function returns.
  while (!input_ended_) {
    std::uint64_t call = running_.load();
    if (call != 0 && running_.compare_exchange_strong(call, 0)) break;
    std::this_thread::sleep_for(milliseconds(kTickMs));
  }
  writer_->close();
}

}  // namespace

void serve_stdio(Dispatcher& dispatcher, Pool& pool, int input, int output,
                 const std::stop_token& stop) {
  const NonBlocking input_mode(input);
  const NonBlocking output_mode(output);
  std::make_shared<Connection>(dispatcher, pool, input, output)->run(stop);
}

}  // namespace ratchet::mcp
