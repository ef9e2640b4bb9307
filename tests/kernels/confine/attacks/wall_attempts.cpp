#include "tests/kernels/confine/attacks/wall_attempts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "kernels/process/candidate_process.h"
#include "kernels/process/descendants.h"
#include "server/core/files.h"
#include "tests/kernels/confine/attacks/wall_targets.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t kMebi = std::int64_t{1} << 20U;
constexpr milliseconds kDeadline(10'000);
constexpr uid_t kOrdinary = 61'234;

}  // namespace

std::string left_in(const fs::path& folder) {
  std::error_code failed;
  if (fs::exists(folder / "proof", failed)) return "another program or process ran";
  for (const auto& entry : fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, failed)) {
    if (entry.path().filename() == "deep") break;
    const auto mode = entry.symlink_status(failed).permissions();
    if ((mode & (fs::perms::set_uid | fs::perms::set_gid)) != fs::perms::none)
      return "a setuid file";
  }
  return "";
}

std::string left_behind() {
  for (const pid_t pid : descendants_of(::getpid())) {
    std::ifstream file(fmt::format("/proc/{}/comm", pid));
    std::string name;
    if (std::getline(file, name) && name == "left-behind") {
      end_processes({pid});
      return "a process left behind";
    }
  }
  return "";
}

namespace {

std::string name_of(int error) {
  const char* name = ::strerrorname_np(error);
  return name && error ? name : "nothing happened";
}

WallAttempt judged(const walls::Probe& probe, int variant, const walls::Report& report,
                   std::string refusal, const std::string& seen) {
  WallAttempt attempt{probe.name, variant, false, std::move(refusal)};
  const bool said = report.done != 0 && (probe.traits & walls::kSeen) == 0;
  if (!seen.empty() || said) {
    attempt.done = true;
    attempt.how = seen.empty() ? "done" : seen;
  }
  return attempt;
}

/// Input and output as a kernel gets them.
CallPlan call_plan() {
  const auto buffer = [](const char* name, Role role, std::size_t bytes, std::int64_t offset) {
    wire::Buffer one;
    one.name = name;
    one.dtype = DType::u8;
    one.role = role;
    one.elements = static_cast<std::int64_t>(bytes);
    one.shape = {one.elements};
    one.offset = offset;
    return one;
  };
  constexpr std::int64_t kOut = 4096;
  static_assert(sizeof(walls::Prey) < kOut);
  CallPlan plan;
  plan.layout.buffers = {buffer("x", Role::in, sizeof(walls::Prey), 0),
                         buffer("y", Role::out, sizeof(walls::Report), kOut)};
  plan.layout.bytes = 2 * kOut;
  for (const auto& one : plan.layout.buffers) {
    wire::Argument argument;
    argument.name = one.name;
    argument.kind = ParameterKind::tensor;
    argument.offset = one.offset;
    plan.arguments.push_back(argument);
  }
  return plan;
}

}  // namespace

void remove_folder(const fs::path& folder) {
  // Deeper than std::filesystem can go.
  const auto command = fmt::format("chmod -R u+rwx {0} 2>/dev/null; rm -rf {0}", folder.string());
  (void)!std::system(command.c_str());
}

WallProbes::WallProbes() : path_(build_dir() / "bin" / "libratchet-wall-probes.so") {
  auto content = read_file(path_, std::size_t{64} << 20U);
  REQUIRE(content);
  content_ = *std::move(content);
  void* library = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) FAIL(::dlerror());
  void* list = ::dlsym(library, "wall_probes");
  void* entry = ::dlsym(library, "solve");
  REQUIRE((list && entry));
  void (*fill)(void*) = nullptr;
  std::memcpy(&fill, &list, sizeof list);
  std::memcpy(&solve_, &entry, sizeof entry);
  fill(&families_);
}

WallAttempt WallProbes::confined(const WallPlace& place, const walls::Probe& probe,
                                 int variant) const {
  const WallTargets targets(place.neighbor);
  const auto prey = targets.prey(probe.name, variant, true);
  auto spec = worker_spec({build_dir() / (place.without.empty() ? "bin" : "walls-open"),
                           DeviceKind::host, 0, kDeadline},
                          "candidate", kMebi);
  spec.address_space_bytes = kWallMemory;
  spec.memory_bytes = kWallMemory;
  if (!place.without.empty()) {
    spec.environment.push_back("RATCHET_TEST_WITHOUT=" + place.without);
    if (place.without.find("limits") != std::string::npos) spec.address_space_bytes.reset();
  }
  walls::Report report;
  std::string refusal, seen;
  fs::path folder;
  {
    auto candidate = CandidateProcess::launch(spec, kDeadline);
    if (!candidate) FAIL(candidate.error().message);
    if (auto loaded = candidate->load({content_, {"the probes", "solve", ""}}, {}); !loaded)
      FAIL(loaded.error().message);
    const auto plan = call_plan();
    auto arena = MemoryFile::create("prey", plan.layout.bytes);
    REQUIRE(arena);
    {
      const auto mapped = arena->map(Mapping::Access::write);
      REQUIRE(mapped);
      std::memcpy(mapped->bytes().data(), &prey, sizeof prey);
    }
    auto answer = candidate->execute(plan, *arena, 0, {});
    if (!answer) FAIL(answer.error().message);
    if (*answer) {
      const auto mapped = (*answer)->map(Mapping::Access::read);
      REQUIRE(mapped);
      std::memcpy(&report, mapped->bytes().data() + plan.layout.buffers[1].offset, sizeof report);
      refusal = name_of(report.error);
    } else {
      refusal = candidate->fault()->kind;
      const auto& message = candidate->fault()->message;
      if (const auto at = message.find("forbidden system call: "); at != std::string::npos)
        refusal = "forbidden: " + message.substr(at + 23);
    }
    folder = candidate->left_behind();
    seen = left_in(folder);
  }
  if (seen.empty()) seen = left_behind();
  if (seen.empty() && fs::exists(folder)) seen = "the folder stayed";
  if (fs::exists(folder)) remove_folder(folder);
  if (seen.empty()) seen = targets.changed();
  return judged(probe, variant, report, std::move(refusal), seen);
}

WallAttempt WallProbes::free(const WallPlace& place, const walls::Probe& probe, int variant) const {
  const WallTargets targets(place.neighbor);
  const auto prey = targets.prey(probe.name, variant, false);
  auto* report = static_cast<walls::Report*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::string folder = "/tmp/ratchet-free-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()));
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::dup2(null, 2);
    ::setenv("TMPDIR", folder.c_str(), 1);
    if (::chdir(folder.c_str()) == 0) solve_(&prey, report);
    ::_exit(0);
  }
  const auto end = steady_clock::now() + kDeadline;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (steady_clock::now() > end) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(milliseconds(1));
  }
  const walls::Report said = *report;
  ::munmap(report, 4096);
  auto seen = left_in(folder);
  if (seen.empty()) seen = left_behind();
  std::error_code failed;
  // As the server removes a worker's folder.
  fs::remove_all(folder, failed);
  if (fs::exists(folder)) {
    if (seen.empty()) seen = "the folder stayed";
    remove_folder(folder);
  }
  if (seen.empty()) seen = targets.changed();
  return judged(probe, variant, said,
                WIFSIGNALED(status) ? ::strsignal(WTERMSIG(status)) : name_of(said.error), seen);
}

namespace {

/// As most containers: whatever makes or changes namespaces fails.
void refuse_namespaces() {
  scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
  const auto refused = SCMP_ACT_ERRNO(EPERM);
  for (const char* name : {"unshare", "setns", "mount", "pivot_root", "umount2"})
    ::seccomp_rule_add(filter, refused, ::seccomp_syscall_resolve_name(name), 0);
  for (const std::uint64_t flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID})
    ::seccomp_rule_add(filter, refused, SCMP_SYS(clone), 1,
                       SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
  ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  if (::seccomp_load(filter) != 0) ::_exit(3);
  ::seccomp_release(filter);
}

void take_terminal() {
  ::setsid();
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) return;
  const int terminal = ::open(::ptsname(master), O_RDWR | O_CLOEXEC | O_NOCTTY);
  ::ioctl(terminal, TIOCSCTTY, 0);
  for (const int number : {SIGHUP, SIGTTOU, SIGTTIN}) ::signal(number, SIG_IGN);
}

void become(const WallChild& child) {
  take_terminal();
  if (::geteuid() == 0) {
    // So that a probe that gets through changes nothing of the machine.
    ::unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC);
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  }
  if (child.ordinary &&
      (::setgroups(0, nullptr) != 0 || ::setresgid(kOrdinary, kOrdinary, kOrdinary) != 0 ||
       ::setresuid(kOrdinary, kOrdinary, kOrdinary) != 0))
    ::_exit(4);
  ::prctl(PR_SET_DUMPABLE, 1);
  guard_server_process();
  if (!child.namespaces) refuse_namespaces();
}

struct Part {
  pid_t pid;
  Fd end;
};

Part start(const WallChild& child, int part, int parts,
           const std::function<std::vector<WallAttempt>(const std::function<bool()>&)>& attempt) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const pid_t pid = ::fork();
  if (pid != 0) {
    ::close(ends[1]);
    return {pid, Fd(ends[0])};
  }
  ::close(ends[0]);
  become(child);
  int turn = 0;
  std::string text;
  try {
    for (auto& one : attempt([&] { return turn++ % parts == part; })) {
      std::ranges::replace_if(one.how, [](char c) { return c == '\t' || c == '\n'; }, ' ');
      text += fmt::format("{}\t{}\t{}\t{}\n", one.probe, one.variant, one.done ? 1 : 0, one.how);
    }
  } catch (...) {
    std::cout.flush();
    ::_exit(6);  // this copy of the test program goes no further; the failure has been printed
  }
  for (std::size_t at = 0; at < text.size();) {
    const auto written = ::write(ends[1], text.data() + at, text.size() - at);
    if (written <= 0) ::_exit(5);
    at += static_cast<std::size_t>(written);
  }
  ::_exit(0);
}

std::vector<WallAttempt> collected(Part& part) {
  std::string text;
  std::array<char, 65536> chunk{};
  for (ssize_t got = 0; (got = ::read(part.end.get(), chunk.data(), chunk.size())) > 0;)
    text.append(chunk.data(), static_cast<std::size_t>(got));
  int status = 0;
  ::waitpid(part.pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) FAIL("a part ended with " << status);
  std::vector<WallAttempt> attempts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    WallAttempt one;
    std::string variant, done;
    std::getline(fields, one.probe, '\t');
    std::getline(fields, variant, '\t');
    std::getline(fields, done, '\t');
    std::getline(fields, one.how, '\t');
    one.variant = std::stoi(variant);
    one.done = done == "1";
    attempts.push_back(std::move(one));
  }
  return attempts;
}

}  // namespace

std::vector<WallAttempt> in_wall_children(
    const WallChild& child,
    const std::function<std::vector<WallAttempt>(const std::function<bool()>&)>& attempt) {
  const int parts = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 4U));
  std::vector<Part> started;
  for (int part = 0; part < parts; ++part) started.push_back(start(child, part, parts, attempt));
  std::vector<WallAttempt> attempts;
  for (auto& part : started) {
    auto some = collected(part);
    attempts.insert(attempts.end(), some.begin(), some.end());
  }
  return attempts;
}

}  // namespace ratchet::test
