#include "kernels/process/control_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string_view>
#include <thread>

#include "kernels/process/user_scope.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMount = "/sys/fs/cgroup";
constexpr const char* kPrefix = "ratchet-";
constexpr const char* kServer = "server-";
constexpr int kNormalShares = 1024;  // version 1: of a group with weight 100
constexpr std::array<std::string_view, 3> kControllers{"memory", "pids", "cpu"};

bool put(const fs::path& file, const std::string& text) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool lists(const fs::path& file, std::string_view word) {
  std::ifstream in(file);
  for (std::string one; in >> one;)
    if (one == word) return true;
  return false;
}

/// The value after `name` in a file of lines "name value".
long value_in(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  long value = 0;
  for (std::string one; in >> one >> value;)
    if (one == name) return value;
  return 0;
}

/// Where this server makes its groups.
struct Home {
  int version = 0;
  ControlGroup::Folders folders;
  std::string none;  ///< why there are none
};

/// The server that made a group, which is called "ratchet-PID-number" or "ratchet-server-PID"; 0:
/// none did.
pid_t maker_of(std::string_view group) {
  if (!group.starts_with(kPrefix)) return 0;
  group.remove_prefix(std::string_view(kPrefix).size());
  if (group.starts_with(kServer)) group.remove_prefix(std::string_view(kServer).size());
  pid_t maker = 0;
  std::from_chars(group.data(), group.data() + group.size(), maker);
  return maker;
}

/// Removes groups of servers that have ended. One of a server that lives may be empty for a moment:
/// its process is to come.
void sweep(const fs::path& folder) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (const pid_t maker = maker_of(entry.path().filename().string());
        maker > 0 && ::kill(maker, 0) != 0 && errno == ESRCH)
      ::rmdir(entry.path().c_str());
}

/// Version 2 gives controllers only to children of a group without processes, so the server moves
/// into a child of its own group.
bool enable_controllers(const fs::path& own) {
  const auto enabled = [&] {
    return lists(own / "cgroup.subtree_control", "memory") &&
           lists(own / "cgroup.subtree_control", "pids");
  };
  if (enabled()) return true;
  if (!lists(own / "cgroup.controllers", "memory") || !lists(own / "cgroup.controllers", "pids"))
    return false;
  const auto leaf = own / fmt::format("{}{}{}", kPrefix, kServer, ::getpid());
  if (::mkdir(leaf.c_str(), 0755) != 0) return false;
  if (put(leaf / "cgroup.procs", "0")) {
    (void)put(own / "cgroup.subtree_control", "+cpu");
    if (put(own / "cgroup.subtree_control", "+memory +pids")) return true;
    (void)put(own / "cgroup.procs", "0");
  }
  ::rmdir(leaf.c_str());
  return false;
}

bool has_version_2_alone() {
  struct statfs system{};
  return ::statfs(kMount, &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC;
}

Home given_home() {
  const bool unified = has_version_2_alone();
  Home home;
  home.none = "no control group (not delegated to this user)";
  for (const auto& [controller, path] : own_groups()) {
    const fs::path mount = unified ? fs::path(kMount) : fs::path(kMount) / controller;
    // Inside a container the path may be that of the host; the mount then begins at our group.
    fs::path own = mount / fs::path(path).relative_path();
    std::error_code failed;
    if (!fs::exists(own, failed)) own = mount;
    if (::access(own.c_str(), W_OK) != 0) continue;
    if (unified) {
      sweep(own);
      if (!controller.empty() || !enable_controllers(own)) continue;
      home.version = 2;
      home.folders = {{"", own}};
      return home;
    }
    for (const auto wanted : kControllers)
      if (controller == wanted) {
        sweep(own);
        home.version = 1;
        home.folders.emplace_back(controller, own);
      }
  }
  return home;
}

Home find_home() {
  auto found = given_home();
  if (found.folders.empty() && has_version_2_alone() && enter_user_scope()) found = given_home();
  return found;
}

const Home& home() {
  static const Home found = find_home();
  return found;
}

}  // namespace

std::size_t most_memory() {
  const auto pages = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES));
  return pages / 4 * 3 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t memory_limit(std::size_t bytes) {
  return bytes == 0 ? most_memory() : bytes;
}

std::vector<std::pair<std::string, std::string>> own_groups() {
  std::vector<std::pair<std::string, std::string>> groups;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto path = line.substr(second + 1);
    std::string_view names(line.data() + first + 1, second - first - 1);
    do {
      const auto comma = names.find(',');
      groups.emplace_back(names.substr(0, comma), path);
      names = comma == std::string_view::npos ? "" : names.substr(comma + 1);
    } while (!names.empty());
  }
  return groups;
}

ControlGroup::Taken ControlGroup::limit(const fs::path& folder, const std::string& controller,
                                        const GroupLimits& limits) {
  const auto memory = std::to_string(memory_limit(limits.memory_bytes));
  const bool unified = controller.empty();
  Taken taken;
  if (unified) {
    taken.memory = put(folder / "memory.max", memory);
    (void)put(folder / "memory.swap.max", "0");  // not there where swap is not counted
    (void)put(folder / "memory.oom.group", "1");
    if (limits.weight != 100) (void)put(folder / "cpu.weight", std::to_string(limits.weight));
  }
  if (controller == "memory") taken.memory = put(folder / "memory.limit_in_bytes", memory);
  if (unified || controller == "pids")
    taken.processes = put(folder / "pids.max", std::to_string(limits.processes));
  if (controller == "cpu" && limits.weight != 100)
    (void)put(folder / "cpu.shares", std::to_string(limits.weight * kNormalShares / 100));
  return taken;
}

std::optional<ControlGroup> ControlGroup::make(const GroupLimits& limits) {
  return make_in(home().folders, limits);
}

std::optional<ControlGroup> ControlGroup::make_in(const Folders& folders,
                                                  const GroupLimits& limits) {
  static std::atomic<unsigned> count{0};
  const auto name = fmt::format("{}{}-{}", kPrefix, ::getpid(), count++);
  ControlGroup group;
  for (const auto& [controller, folder] : folders) {
    if (controller == "cpu" && limits.weight == 100) continue;
    const auto path = folder / name;
    if (::mkdir(path.c_str(), 0755) != 0) continue;
    Fd door(::open((path / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!door) {
      ::rmdir(path.c_str());
      continue;
    }
    const auto taken = limit(path, controller, limits);
    group.taken_.memory = group.taken_.memory || taken.memory;
    group.taken_.processes = group.taken_.processes || taken.processes;
    group.parts_.push_back({path, std::move(door)});
  }
  if (group.parts_.empty()) return std::nullopt;
  return group;
}

std::string ControlGroup::description() {
  return home().version == 0 ? home().none : fmt::format("control groups {}", home().version);
}

std::string with_group(const std::string& walls, const ControlGroup* group) {
  const auto bar = std::min(walls.find(';'), walls.size());
  auto held = walls.substr(0, bar);
  auto missing = walls.substr(bar);
  const auto add_missing = [&](const std::string& one) {
    missing += (missing.empty() ? "; " : ", ") + one;
  };
  if (group) held += (held.empty() ? "" : ", ") + ControlGroup::description();
  if (!group)
    add_missing(home().version == 0 ? home().none : "no control group");
  else if (!group->limits_memory())
    add_missing("no control group for memory");
  if (group && !group->limits_processes()) add_missing("no control group for processes");
  return held + missing;
}

bool lacks_a_wall(std::string_view walls) {
  constexpr std::string_view kNo = "no ", kNoGroup = "no control group";
  const auto bar = walls.find("; ");
  auto missing = bar == std::string_view::npos ? "" : walls.substr(bar + 2);
  while (!missing.empty()) {
    if (missing.starts_with(kNo) && !missing.starts_with(kNoGroup)) return true;
    const auto next = missing.find(", ");
    missing = next == std::string_view::npos ? "" : missing.substr(next + 2);
  }
  return false;
}

ControlGroup& ControlGroup::operator=(ControlGroup&& other) noexcept {
  if (this == &other) return *this;
  end();
  parts_ = std::move(other.parts_);
  taken_ = other.taken_;
  return *this;
}

ControlGroup::~ControlGroup() {
  end();
}

std::vector<int> ControlGroup::doors() const {
  std::vector<int> doors;
  doors.reserve(parts_.size());
  for (const auto& part : parts_) doors.push_back(part.door.get());
  return doors;
}

bool ControlGroup::ran_out_of_memory() const {
  for (const auto& part : parts_)
    if (value_in(part.folder / "memory.events", "oom_kill") > 0 ||
        value_in(part.folder / "memory.oom_control", "oom_kill") > 0)
      return true;
  return false;
}

void ControlGroup::end() {
  using std::chrono::steady_clock;
  for (auto& part : parts_) {
    part.door.reset();
    const auto deadline = steady_clock::now() + std::chrono::seconds(1);
    // Busy as long as a process of it has not been reaped.
    while (::rmdir(part.folder.c_str()) != 0 && errno == EBUSY && steady_clock::now() < deadline) {
      std::ifstream file(part.folder / "cgroup.procs");
      for (pid_t pid = 0; file >> pid;)
        if (pid > 0) ::kill(pid, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  parts_.clear();
}

}  // namespace ratchet
