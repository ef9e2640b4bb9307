#include "kernels/confine/walls.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "kernels/process/private_folder.h"
#include "server/core/fd.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::confine {
using test::build_dir;
using test::TempFolder;

namespace {

/// Runs `body` in a process of its own behind the walls of a role; `before` runs between the walls
/// and the filter, as a GPU's driver does.
ExitStatus behind(Role role, DeviceKind kind, const std::function<int()>& body,
                  const std::function<void()>& before = {}) {
  const auto folder = PrivateFolder::make();
  REQUIRE(folder);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(folder->path().c_str()) != 0) ::_exit(90);
    Walls walls(role, kind, {}, folder->path().string());
    walls.enter();
    if (before) before();
    walls.seal();
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

ExitStatus candidate(const std::function<int()>& body) {
  return behind(Role::candidate, DeviceKind::host, body);
}

ExitStatus program(const std::function<int()>& body) {
  return behind(Role::build, DeviceKind::host, body);
}

}  // namespace

TEST_CASE("a thread that the device's driver started is behind the filter too", "[confine]") {
  static std::atomic<bool> sealed{false};
  static std::atomic<int> outcome{0};
  static std::atomic<bool> privileged{true};

  const auto status = behind(
      Role::candidate, DeviceKind::cuda,
      [] {
        sealed = true;
        while (outcome == 0) ::sched_yield();
        return outcome == EPERM && !privileged ? 7 : 8;
      },
      [] {
        std::thread([] {
          while (!sealed) ::sched_yield();
          privileged = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
          outcome = ::socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : -1;
        }).detach();
      });

  CHECK(status.code == 7);
}

/// Mounts an own /dev with the null devices, two GPUs and the node that both share.
bool play_two_gpus() {
  const auto node = [](const char* path, unsigned minor) {
    return ::mknod(path, S_IFCHR | 0666, makedev(1, minor)) == 0;
  };
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("dev", "/dev", "tmpfs", MS_NOSUID, "mode=0755") == 0 && node("/dev/null", 3) &&
         node("/dev/nvidiactl", 3) && node("/dev/nvidia0", 3) && node("/dev/nvidia11", 3);
}

TEST_CASE("a process on a GPU opens the node of its own GPU and no other's", "[confine]") {
  if (::geteuid() != 0) SKIP("devices can be made by root alone");
  const auto opens = [](const char* path) { return Fd(::open(path, O_RDWR | O_CLOEXEC)); };
  const auto role = GENERATE(Role::candidate, Role::judge, Role::counter, Role::compiler,
                             Role::profiled, Role::tool);
  for (const bool known : {true, false}) {
    INFO("the server knows the run's GPU: " << known);
    const pid_t child = ::fork();
    if (child == 0) {
      if (!play_two_gpus()) ::_exit(90);
      if (known) ::setenv("RATCHET_GPU_NODE", "/dev/nvidia11", 1);
      Walls walls(role, DeviceKind::cuda, {}, "");
      walls.enter();
      walls.seal();
      ::_exit((opens("/dev/nvidia11") ? 1 : 0) + (opens("/dev/nvidiactl") ? 2 : 0) +
              (opens("/dev/nvidia0") ? 4 : 0));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == (known ? 3 : 7));
  }
}

TEST_CASE("a forbidden call with high bits in its argument is forbidden all the same",
          "[confine]") {
  const auto status = candidate([] {
    ::syscall(SYS_prctl, PR_SET_DUMPABLE | 1L << 32, 1, 0, 0, 0);
    return 0;
  });

  CHECK(status.signal == SIGSYS);
}

TEST_CASE("a kernel cannot handle the signal of the filter itself", "[confine]") {
  const auto status = candidate([] {
    if (::signal(SIGSYS, [](int) {}) != SIG_ERR) return 1;
    ::syscall(SYS_ptrace, 0, 0, 0, 0);
    return 2;
  });

  CHECK(status.signal == SIGSYS);
}

TEST_CASE("a kernel can ask for every signal's handler and use its own", "[confine]") {
  const auto status = candidate([] {
    struct sigaction known{};
    if (::sigaction(SIGSYS, nullptr, &known) != 0) return 1;
    static volatile std::sig_atomic_t seen = 0;
    ::signal(SIGUSR1, [](int) { seen = 1; });
    ::raise(SIGUSR1);
    return seen == 1 ? 0 : 2;
  });

  CHECK(status.clean());
}

TEST_CASE("a kernel cannot change the mode of a file, wherever it lies", "[confine]") {
  const TempFolder folder;
  const auto file = folder.path() / "key";
  std::ofstream(file) << "secret";
  REQUIRE(::chmod(file.c_str(), 0600) == 0);

  const auto status = candidate([&] { return ::chmod(file.c_str(), 0666); });

  CHECK(status.signal == SIGSYS);
  struct stat state{};
  REQUIRE(::stat(file.c_str(), &state) == 0);
  CHECK((state.st_mode & 0777) == 0600);
}

TEST_CASE("a linker may make its output executable, and changes nobody else's mode", "[confine]") {
  const TempFolder folder;
  const auto file = folder.path() / "key";
  std::ofstream(file) << "secret";
  REQUIRE(::chmod(file.c_str(), 0600) == 0);

  const auto status = program([&] {
    std::ofstream("library.so") << "x";
    (void)::chmod(file.c_str(), 0666);
    return ::chmod("library.so", 0755);
  });

  CHECK(status.clean());
  struct stat state{};
  REQUIRE(::stat(file.c_str(), &state) == 0);
  CHECK((state.st_mode & 0777) == 0600);
}

TEST_CASE("a kernel places its own threads and nobody else's process", "[confine]") {
  const pid_t server = ::getpid();
  const int priority = ::getpriority(PRIO_PROCESS, 0);
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);

  const auto status = candidate([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    (void)::sched_setaffinity(server, sizeof one, &one);
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(server), 19);
    (void)::setpriority(PRIO_USER, 0, 19);
    // OpenMP runtimes place a thread by its number.
    const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
    if (::sched_setaffinity(self, sizeof before, &before) != 0) return 1;
    return ::sched_setaffinity(0, sizeof before, &before);
  });

  CHECK(status.clean());
  cpu_set_t after;
  REQUIRE(::sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  CHECK(::getpriority(PRIO_PROCESS, 0) == priority);
}

TEST_CASE("a kernel reads and writes its own folder and the system's libraries, nothing else",
          "[confine]") {
  const TempFolder folder;
  const auto secret = folder.path() / "secret";
  std::ofstream(secret) << "key";

  const auto status = candidate([&] {
    std::ofstream("mine") << "text";
    if (::access("mine", R_OK) != 0) return 1;
    if (::open("/usr/lib", O_RDONLY | O_DIRECTORY) < 0) return 2;
    if (::open("/dev/urandom", O_RDONLY) < 0) return 3;
    if (::open("/proc/self/maps", O_RDONLY) < 0) return 4;
    if (::open(secret.c_str(), O_RDONLY) >= 0) return 5;
    if (::open("/etc/shadow", O_RDONLY) >= 0) return 6;
    (void)::open("/dev/shm/ratchet-mark", O_RDWR | O_CREAT, 0600);
    return 0;
  });

  CHECK(status.code == 0);
  CHECK(::access("/dev/shm/ratchet-mark", F_OK) != 0);  // at most in a /dev/shm of its own
}

TEST_CASE("where a wall is missing and required, a program does not start and says why",
          "[confine]") {
  const TempFolder folder;
  ProcessSpec spec;
  spec.argv = {(build_dir() / "walls-open" / "ratchet-confine").string(), "build",
               folder.path().string(), "--", "/bin/true"};
  spec.folder = folder.path();
  // Of a sanitized program: its search for leaks, as it ends, calls what the walls forbid.
  const std::string no_leaks = "ASAN_OPTIONS=detect_leaks=0";
  spec.environment = {no_leaks, "RATCHET_TEST_WITHOUT=landlock,root"};

  const auto without = run_program(spec, std::chrono::seconds(10));
  spec.environment.emplace_back("RATCHET_REQUIRE_SANDBOX=1");
  const auto required = run_program(spec, std::chrono::seconds(10));
  spec.environment = {no_leaks, "RATCHET_REQUIRE_SANDBOX=1"};
  const auto complete = run_program(spec, std::chrono::seconds(10));

  REQUIRE(without);
  CHECK(without->status.clean());
  REQUIRE(required);
  CHECK(required->status.code == 126);
  CHECK(required->err.find("no Landlock") != std::string::npos);
  CHECK(required->err.find("--no-require-sandbox") != std::string::npos);
  REQUIRE(complete);
  CHECK(complete->status.clean());
}

// Debian's packages of the CUDA Toolkit are such a case: /usr/local/cuda leads to
// /etc/alternatives.
TEST_CASE("a folder behind links outside of what is shown is found in the private root",
          "[confine]") {
  const TempFolder folder;
  namespace fs = std::filesystem;
  const auto place = fs::canonical(folder.path());
  fs::create_directories(place / "toolkit-13");
  fs::create_directories(place / "alternatives");
  fs::create_directories(place / "shown");
  std::ofstream(place / "toolkit-13" / "word") << "found";
  fs::create_directory_symlink(place / "toolkit-13", place / "alternatives" / "toolkit");
  fs::create_directory_symlink(place / "alternatives" / "toolkit", place / "shown" / "toolkit");
  ProcessSpec spec;
  spec.argv = {(build_dir() / "walls-open" / "ratchet-confine").string(),
               "build",
               "",
               (place / "shown").string(),
               (place / "shown" / "toolkit").string(),
               "--",
               "/bin/cat",
               (place / "shown" / "toolkit" / "word").string()};
  spec.environment = {"RATCHET_TEST_WITHOUT=landlock"};

  const auto read = run_program(spec, std::chrono::seconds(10));

  REQUIRE(read);
  CHECK(read->err == "");
  CHECK(read->out == "found");
}

}  // namespace ratchet::confine
