#include "tests/kernels/confine/attacks/wall_targets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20U;
constexpr int kPause = 1200;  // milliseconds; the server looks at a worker twice a second

template <std::size_t N>
void put(std::array<char, N>& to, const std::string& text) {
  REQUIRE(text.size() < N);
  std::memcpy(to.data(), text.data(), text.size());
}

template <class Address>
Fd listening(int family, const Address& address, std::size_t size) {
  Fd made(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  REQUIRE(::bind(made.get(), reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(size)) == 0);
  REQUIRE(::listen(made.get(), 128) == 0);
  return made;
}

int* received = nullptr;

/// Counts: the first those of others, the second those of the harness, which come later.
void count_signal(int number) {
  ++received[number == SIGUSR2 ? 1 : 0];
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Reading {
  std::uint32_t size = sizeof(Reading);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};

}  // namespace

WallTargets::WallTargets(uid_t neighbor)
    : sides_{Side{"the server's", ::geteuid(), {}, {}, {}},
             Side{"another worker's", neighbor, {}, {}, {}}},
      mark_(fmt::format("ratchet-walls-{}", ::getpid())),
      key_(0x7a110000 + ::getpid()) {
  REQUIRE(::chmod(folder_.path().c_str(), 0755) == 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  server_ = listening(AF_INET, address, sizeof address);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(server_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  for (auto& side : sides_) {
    furnish(side);
    start(side);
  }
  before_ = state();
}

WallTargets::~WallTargets() {
  remove_marks();
  for (const auto& side : sides_) {
    ::kill(side.told.process, SIGKILL);
    ::waitpid(side.told.process, nullptr, 0);
    ::munmap(side.signals, 4096);
  }
}

void WallTargets::remove_marks() const {
  std::error_code none;
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"})
    fs::remove(fs::path(folder) / mark_, none);
  ::shmctl(::shmget(key_, 0, 0), IPC_RMID, nullptr);
  ::semctl(::semget(key_, 0, 0), 0, IPC_RMID);
  ::msgctl(::msgget(key_, 0), IPC_RMID, nullptr);
  ::syscall(SYS_mq_unlink, mark_.c_str());
}

void WallTargets::furnish(Side& side) {
  const bool server = &side == sides_.data();
  const auto folder = folder_ / (server ? "server" : "worker");
  const auto secret = folder / "secret";
  fs::create_directories(folder / "empty");
  std::ofstream(secret) << walls::kSecret << '\n';
  fs::create_symlink(secret, folder / "link");
  std::ofstream(folder / "header.h") << "static const char kNeighbor[] = \"FOUND-OUT\";\n";
  std::ofstream(folder / "planted_module.py") << "VALUE = 1\n";
  put(side.told.folder, folder.string());
  put(side.told.secret, secret.string());
  put(side.told.door, (folder / "door").string());
  put(side.told.name, folder.string());  // unique
  REQUIRE(::setxattr(secret.c_str(), "user.present", "x", 1, 0) == 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, side.told.door.data(), sizeof address.sun_path - 1);
  side.door = listening(AF_UNIX, address, sizeof address);
  sockaddr_un abstract{};
  abstract.sun_family = AF_UNIX;
  std::strncpy(abstract.sun_path + 1, side.told.name.data(), 64);
  side.hall = listening(AF_UNIX, abstract,
                        offsetof(sockaddr_un, sun_path) + 1 + std::strlen(side.told.name.data()));
  // The server's file is its own; the neighbor's is what many files of users are: readable to all.
  fs::permissions(secret, static_cast<fs::perms>(server ? 0600 : 0644));
  for (const auto& path : {folder, folder / "empty", secret, folder / "link", folder / "door",
                           folder / "header.h", folder / "planted_module.py"})
    if (side.user != ::geteuid()) REQUIRE(::lchown(path.c_str(), side.user, side.user) == 0);
}

void WallTargets::start(Side& side) {
  side.signals = static_cast<int*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  // At the same address in the child.
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(memory, walls::kSecret.data(), walls::kSecret.size());
  side.told.address = reinterpret_cast<std::uint64_t>(memory);
  const Fd file(::open(side.told.secret.data(), O_RDONLY));
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  const Fd in(pipe[0]);
  const Fd out(pipe[1]);
  side.told.file = file.get();
  side.told.pipe = out.get();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::setpgid(0, 0);
    received = side.signals;
    for (const int number : {SIGUSR1, SIGUSR2, SIGIO}) std::signal(number, count_signal);
    if (side.user != ::geteuid() && (::setresgid(side.user, side.user, side.user) != 0 ||
                                     ::setresuid(side.user, side.user, side.user) != 0))
      ::_exit(1);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_DUMPABLE, 1);  // a change of user has made it less of a target
    ::prctl(PR_SET_NAME, "target");
    if (::chdir(side.told.folder.data()) != 0) ::_exit(1);
    std::raise(SIGUSR2);
    for (;;) ::pause();
  }
  ::setpgid(child, child);
  side.told.process = child;
  ::munmap(memory, 4096);
  while (__atomic_load_n(side.signals + 1, __ATOMIC_RELAXED) == 0)
    if (::waitpid(child, nullptr, WNOHANG) != 0) FAIL("the target process did not start");
  const sched_param lowest{1};
  if (::geteuid() == 0) ::sched_setscheduler(child, SCHED_RR, &lowest);
}

walls::Prey WallTargets::prey(const std::string& probe, int variant, bool confined) const {
  walls::Prey prey;
  prey.memory = confined ? kWallMemory + 256 * kMegabyte : 256 * kMegabyte;
  prey.disk = confined ? 2304 * kMegabyte : 256 * kMegabyte;
  prey.count = 1500;
  prey.pause_ms = confined ? kPause : 0;
  put(prey.probe, probe);
  prey.variant = variant;
  prey.port = port_;
  put(prey.mark, mark_);
  prey.key = key_;
  for (std::size_t i = 0; i < sides_.size(); ++i) prey.targets[i] = sides_[i].told;
  return prey;
}

void WallTargets::note_files(const Side& side, State& state) {
  const fs::path folder = side.told.folder.data();
  const auto note = [&](const fs::path& path) {
    struct stat found{};
    ::lstat(path.c_str(), &found);
    const bool is_folder = S_ISDIR(found.st_mode);
    // The time of the last change covers names, modes, owners, times, links and attributes.
    state[fmt::format("{} file {}", side.name, path.lexically_relative(folder).string())] =
        fmt::format("{} {} {} {}", found.st_ino, is_folder ? 0 : found.st_size,
                    found.st_ctim.tv_sec, found.st_ctim.tv_nsec);
  };
  note(folder);
  std::error_code failed;
  for (const auto& entry : fs::recursive_directory_iterator(folder, failed)) note(entry.path());
}

void WallTargets::note_process(const Side& side, State& state) {
  const pid_t pid = side.told.process;
  // Signals are handled in the order of their numbers, or before one that is sent now.
  const int before = __atomic_load_n(side.signals + 1, __ATOMIC_RELAXED);
  ::kill(pid, SIGUSR2);
  for (int i = 0; i < 100 && __atomic_load_n(side.signals + 1, __ATOMIC_RELAXED) == before; ++i)
    ::usleep(500);
  const auto note = [&](const char* what, const std::string& value) {
    state[fmt::format("{} process: {}", side.name, what)] = value;
  };
  note("signals", std::to_string(__atomic_load_n(side.signals, __ATOMIC_RELAXED)));
  note("alive", ::kill(pid, 0) == 0 ? "yes" : "no");
  Reading reading;
  ::syscall(SYS_sched_getattr, pid, &reading, sizeof reading, 0);
  note("schedule", fmt::format("{} {} {}", reading.policy, reading.priority,
                               ::getpriority(PRIO_PROCESS, static_cast<id_t>(pid))));
  cpu_set_t processors;
  ::sched_getaffinity(pid, sizeof processors, &processors);
  note("processors", std::to_string(CPU_COUNT(&processors)));
  note("disk", std::to_string(::syscall(SYS_ioprio_get, 1, pid)));
  for (const char* file : {"comm", "oom_score_adj", "coredump_filter", "limits"})
    note(file, content_of(fmt::format("/proc/{}/{}", pid, file)));
}

WallTargets::State WallTargets::state() const {
  State state;
  for (const auto& side : sides_) {
    note_files(side, state);
    note_process(side, state);
  }
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"}) {
    const auto mark = fs::path(folder) / mark_;
    state["a mark: " + mark.string()] = fs::exists(fs::symlink_status(mark)) ? "yes" : "no";
  }
  state["shared memory"] = ::shmget(key_, 0, 0) >= 0 ? "yes" : "no";
  state["semaphores"] = ::semget(key_, 0, 0) >= 0 ? "yes" : "no";
  state["messages"] = ::msgget(key_, 0) >= 0 ? "yes" : "no";
  const Fd queue(static_cast<int>(::syscall(SYS_mq_open, mark_.c_str(), O_RDONLY, 0, nullptr)));
  state["a queue"] = queue ? "yes" : "no";
  return state;
}

std::string WallTargets::changed() const {
  const auto now = state();
  for (const auto& [name, value] : before_)
    if (const auto found = now.find(name); found == now.end() || found->second != value)
      return name;
  for (const auto& [name, value] : now)
    if (!before_.contains(name)) return name;
  return "";
}

}  // namespace ratchet::test
