#include "kernels/process/watchdog.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <utility>

#include "server/core/process.h"
#include "tests/support/sanitized.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 20U;

/// A process in whose memory `bytes` are resident. They are one piece, mapped again and again, so
/// that a test need not fill the machine.
class Holder {
 public:
  explicit Holder(std::size_t bytes) {
    auto said = Pipe::open();
    REQUIRE(said);
    pid_ = ::fork();
    if (pid_ == 0) {
      const int file = ::memfd_create("held", MFD_CLOEXEC);
      bool held = ::ftruncate(file, kPiece) == 0;
      for (std::size_t all = 0; held && all < bytes; all += kPiece)
        held = ::mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file,
                      0) != MAP_FAILED;
      if (held) (void)!::write(said->in.get(), "x", 1);
      for (;;) ::pause();
    }
    said->in.reset();
    char ready = 0;
    REQUIRE(::read(said->out.get(), &ready, 1) == 1);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

std::string kind_of(const std::optional<Fault>& fault) {
  return fault ? fault->kind : "none";
}

/// The folder in which version 1 of control groups counts processes, as a system has it that gives
/// the server this controller alone.
ControlGroup::Folders processes_alone() {
  for (const auto& [controller, path] : own_groups()) {
    const auto folder =
        std::filesystem::path("/sys/fs/cgroup/pids") / std::filesystem::path(path).relative_path();
    if (controller == "pids" && ::access(folder.c_str(), W_OK) == 0) return {{"pids", folder}};
  }
  return {};
}

TEST_CASE("memory has a limit where nobody set one and no group limits it", "[groups][slow]") {
  constexpr std::size_t kManyPages = std::size_t{128} << 30U;  // mapping as much takes seconds
  if (most_memory() > kManyPages) SKIP("this machine has too much memory to map all of it");
  const Holder most(most_memory() + kPiece);
  const Holder some(2 * kPiece);

  CHECK(kind_of(excess_of(most.pid(), {}, nullptr)) == "out_of_memory");
  CHECK(kind_of(excess_of(some.pid(), {}, nullptr)) == "none");
}

TEST_CASE("all processes below one count together", "[groups]") {
  auto parent = Process::spawn({.argv = {"/bin/sh", "-c", "sleep 60 & sleep 60 & sleep 60 & wait"},
                                .environment = {"PATH=/usr/bin:/bin"}});
  REQUIRE(parent);
  const auto seen = [&](int most) {
    return kind_of(excess_of(parent->pid(), {.processes = most}, nullptr));
  };
  for (int i = 0; i < 100 && seen(2) == "none"; ++i) ::usleep(10'000);

  CHECK(seen(2) == "too_many_processes");
  CHECK(seen(3) == "none");
}

TEST_CASE("a missing group weakens no claim, a missing wall does", "[groups]") {
  CHECK(lacks_a_wall("seccomp on all threads, own user; no Landlock"));
  CHECK(lacks_a_wall(with_group("seccomp on all threads; no Landlock", nullptr)));
  CHECK(lacks_a_wall("none; no control group (not delegated to this user), no seccomp"));
  CHECK_FALSE(lacks_a_wall(with_group("seccomp on all threads, own user, Landlock 7", nullptr)));
  CHECK_FALSE(lacks_a_wall("seccomp on all threads, root without capabilities"));
}

TEST_CASE("what a group does not limit, the server counts", "[groups]") {
  if (test::kSanitized) SKIP("a sanitized process holds more than it takes");
  const auto folders = processes_alone();
  if (folders.empty()) SKIP("no control groups of version 1 here");
  const auto part = ControlGroup::make_in(folders, {});
  REQUIRE(part);
  const Holder holder(2 * kPiece);
  const GroupLimits limits{.memory_bytes = kPiece};

  CHECK(part->limits_processes());
  CHECK_FALSE(part->limits_memory());
  CHECK(with_group("seccomp", &*part).find("; no control group for memory") != std::string::npos);
  CHECK(with_group("seccomp; no Landlock", nullptr).find("; no Landlock, no control group") !=
        std::string::npos);
  CHECK(kind_of(excess_of(holder.pid(), limits, &*part)) == "out_of_memory");
  CHECK(kind_of(excess_of(holder.pid(), {.memory_bytes = 3 * kPiece}, &*part)) == "none");
  // A whole group ends a process by itself, and counts what is shared once.
  if (const auto whole = ControlGroup::make(limits); whole && whole->limits_memory())
    CHECK(kind_of(excess_of(holder.pid(), limits, &*whole)) == "none");
}

TEST_CASE("a group that cannot be entered is none", "[groups]") {
  const test::TempFolder plain;  // takes a folder, and has no files of a control group

  CHECK_FALSE(ControlGroup::make_in({{"", plain.path()}}, {}));
  CHECK(std::filesystem::is_empty(plain.path()));
}

}  // namespace
}  // namespace ratchet
