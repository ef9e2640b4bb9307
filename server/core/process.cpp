#include "server/core/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kExecFailed = 127;
constexpr milliseconds kLook(50);  // between two looks at a program that runs

ExitStatus decoded(int raw) {
  if (WIFSIGNALED(raw)) return {0, WTERMSIG(raw)};
  return {WEXITSTATUS(raw), 0};
}

void limit_resource(__rlimit_resource resource, const std::optional<std::size_t>& bytes) {
  if (!bytes) return;
  const rlimit limit{*bytes, *bytes};
  ::setrlimit(resource, &limit);
}

/// Moves the wanted descriptors to their numbers, the report pipe right above them, and closes all
/// others. Makes only async-signal-safe calls: it runs between fork and exec of a threaded program.
/// `parked` has room for as many. False: errno says why, and the report pipe is where it was.
bool arrange_descriptors(const std::vector<std::pair<int, int>>& wanted, std::vector<int>& parked,
                         int report, int highest) {
  // First to numbers that neither the parent nor the child uses: any of them may be in the way.
  const int first_free = highest + 2;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    parked[i] = ::fcntl(wanted[i].first, F_DUPFD, first_free);
    if (parked[i] < 0) return false;
  }
  const int parked_report = ::fcntl(report, F_DUPFD, first_free);
  const int null = ::open("/dev/null", O_RDWR);
  const int parked_null = null < 0 ? -1 : ::fcntl(null, F_DUPFD, first_free);
  if (parked_report < 0 || parked_null < 0) return false;
  for (int fd = 0; fd <= 2; ++fd) ::dup2(parked_null, fd);
  for (std::size_t i = 0; i < wanted.size(); ++i) ::dup2(parked[i], wanted[i].second);
  ::dup3(parked_report, highest + 1, O_CLOEXEC);
  ::syscall(SYS_close_range, static_cast<unsigned>(first_free), ~0U, 0U);
  return true;
}

/// Tells the parent errno.
[[noreturn]] void give_up(int report) {
  const int code = errno;
  (void)!::write(report, &code, sizeof code);
  ::_exit(kExecFailed);
}

/// Keeps the first `count` of this thread's processors.
bool limit_processors(int count) {
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return false;
  int kept = 0;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &all) && ++kept > count) CPU_CLR(i, &all);
  return ::sched_setaffinity(0, sizeof all, &all) == 0;
}

/// Those that the leader started, and that became this process's children with its end (see
/// PR_SET_CHILD_SUBREAPER): they are killed, and would stay as zombies.
void reap_group(pid_t group) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(1);
  for (pid_t reaped = 0; reaped >= 0 && steady_clock::now() < deadline;) {
    reaped = ::waitpid(-group, nullptr, WNOHANG);  // -1 if none is left
    if (reaped == 0) std::this_thread::sleep_for(milliseconds(1));
  }
}

[[noreturn]] void become(const ProcessSpec& spec, const char* path, char* const* argv,
                         char* const* envp, std::vector<int>& parked, int report, pid_t parent) {
  ::setsid();
  for (const int group : spec.joins)
    if (::write(group, "0", 1) != 1) give_up(report);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExecFailed);  // the parent died before prctl took effect
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!spec.folder.empty() && ::chdir(spec.folder.c_str()) != 0) give_up(report);
#if !defined(RATCHET_SANITIZED)
  // Our own programs map terabytes of shadow memory in a build with sanitizers.
  limit_resource(RLIMIT_AS, spec.address_space_bytes);
#endif
  limit_resource(RLIMIT_FSIZE, spec.file_size_bytes);
  if (spec.processors && !limit_processors(*spec.processors)) give_up(report);
  int highest = 2;
  for (const auto& pair : spec.descriptors) highest = pair.second > highest ? pair.second : highest;
  if (!arrange_descriptors(spec.descriptors, parked, report, highest)) give_up(report);
  ::execve(path, argv, envp);
  give_up(highest + 1);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace

std::string ExitStatus::text() const {
  if (signal) return fmt::format("signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit code {}", code);
}

Result<Process> Process::spawn(const ProcessSpec& spec) {
  const auto program = find_program(spec.argv.at(0));
  if (!program) return unavailable(spec.argv[0] + " was not found", "check_env lists tools.");
  auto report = Pipe::open();
  if (!report) return report.error();
  const auto argv = pointers(spec.argv);
  const auto envp = pointers(spec.environment);
  std::vector<int> parked(spec.descriptors.size());
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return unavailable(fmt::format("fork: {}", std::strerror(errno)));
  if (pid == 0)
    become(spec, program->c_str(), argv.data(), envp.data(), parked, report->in.get(), parent);
  report->in.reset();
  Process child(pid);
  int code = 0;
  ssize_t got = 0;
  do {
    got = ::read(report->out.get(), &code, sizeof code);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof code)
    return unavailable(fmt::format("cannot start {}: {}", program->string(), std::strerror(code)));
  return child;
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    if (pid_ > 0) kill();
    pid_ = std::exchange(other.pid_, -1);
    status_ = other.status_;
  }
  return *this;
}

Process::~Process() {
  if (pid_ > 0) kill();
}

std::optional<ExitStatus> Process::poll() {
  if (status_) return status_;
  int raw = 0;
  if (::waitpid(pid_, &raw, WNOHANG) == pid_) status_ = decoded(raw);
  return status_;
}

std::optional<ExitStatus> Process::wait_for(milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  milliseconds pause{0};
  while (!poll()) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    // Short programs end within the first pauses; long ones cost a wake-up every 10 ms.
    pause = std::min({milliseconds(10), pause + milliseconds(1), left});
    std::this_thread::sleep_for(pause);
  }
  return status_;
}

ExitStatus Process::kill() {
  ::kill(-pid_, SIGKILL);
  if (!status_) {
    int raw = 0;
    while (::waitpid(pid_, &raw, 0) < 0 && errno == EINTR) {
    }
    status_ = decoded(raw);
  }
  reap_group(pid_);
  pid_ = -1;
  return *status_;
}

Result<Captured> run_program(const ProcessSpec& spec, milliseconds limit,
                             const std::stop_token& stop, std::size_t output_limit,
                             const Watch& watch) {
  const auto start = steady_clock::now();
  auto out = Pipe::open();
  auto err = Pipe::open();
  if (!out || !err) return (out ? err : out).error();
  ProcessSpec piped = spec;
  piped.descriptors.emplace_back(out->in.get(), 1);
  piped.descriptors.emplace_back(err->in.get(), 2);
  auto child = Process::spawn(piped);
  if (!child) return child.error();
  out->in.reset();
  err->in.reset();
  std::array<Fd, 2> readers{std::move(out->out), std::move(err->out)};

  Captured captured;
  std::array<std::string*, 2> sinks{&captured.out, &captured.err};
  const auto deadline = start + limit;
  const auto pause = [&] {  // until it is looked at again
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    return std::clamp(left, milliseconds(0), kLook);
  };
  const auto must_end = [&] {
    captured.timed_out = pause().count() == 0;
    return captured.timed_out || stop.stop_requested() || (watch && watch(child->pid()));
  };
  bool killed = false;
  while ((readers[0] || readers[1]) && !(killed = must_end())) {
    std::array<pollfd, 2> waiting{pollfd{readers[0] ? readers[0].get() : -1, POLLIN, 0},
                                  pollfd{readers[1] ? readers[1].get() : -1, POLLIN, 0}};
    ::poll(waiting.data(), 2, static_cast<int>(pause().count()));
    for (std::size_t i = 0; i < 2; ++i) {
      if (!readers[i] || waiting[i].revents == 0) continue;
      std::array<char, 65536> chunk{};
      const ssize_t got = ::read(readers[i].get(), chunk.data(), chunk.size());
      if (got <= 0) {
        if (got == 0 || errno != EINTR) readers[i].reset();
        continue;
      }
      const auto room = output_limit - std::min(output_limit, sinks[i]->size());
      const auto taken = std::min(room, static_cast<std::size_t>(got));
      sinks[i]->append(chunk.data(), taken);
      captured.truncated = captured.truncated || taken < static_cast<std::size_t>(got);
    }
    // A grandchild may hold the pipes open after the program itself has ended.
    if (child->poll() && (waiting[0].revents | waiting[1].revents) == 0) break;
  }
  // A program may close its outputs and go on.
  while (!killed && !child->wait_for(pause())) killed = must_end();
  if (killed && stop.stop_requested())
    return Error{ErrorCode::timed_out, spec.argv[0] + " was stopped: the call was canceled"};
  captured.status = child->kill();
  captured.elapsed = steady_clock::now() - start;
  return captured;
}

std::optional<std::filesystem::path> find_program(const std::string& name) {
  const auto runnable = [](const std::filesystem::path& path) {
    std::error_code failed;
    return ::access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path, failed);
  };
  if (name.find('/') != std::string::npos)
    return runnable(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (!folders.empty()) {
    const auto colon = folders.find(':');
    auto path = std::filesystem::path(folders.substr(0, colon)) / name;
    if (runnable(path)) return path;
    folders = colon == std::string_view::npos ? "" : folders.substr(colon + 1);
  }
  return std::nullopt;
}

std::vector<std::string> inherited_environment(const std::vector<std::string>& names) {
  std::vector<std::string> variables;
  for (const auto& name : names)
    if (const char* value = std::getenv(name.c_str())) variables.push_back(name + "=" + value);
  return variables;
}

std::vector<std::string> whole_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

Result<Pipe> Pipe::open() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return unavailable(fmt::format("pipe: {}", std::strerror(errno)));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace ratchet
