#include "kernels/process/descendants.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace ratchet {
namespace {

/// Field 4 of /proc/<pid>/stat; the name in field 2 may contain spaces and brackets.
pid_t parent_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string line;
  std::getline(file, line);
  const auto close = line.rfind(')');
  if (close == std::string::npos || close + 4 >= line.size()) return 0;
  pid_t parent = 0;
  std::from_chars(line.data() + close + 4, line.data() + line.size(), parent);
  return parent;
}

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> children;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong == std::errc{} && end == name.data() + name.size())
      children.emplace(parent_of(entry.path()), pid);
  }
  return children;
}

}  // namespace

void guard_server_process() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#if !defined(RATCHET_SANITIZED)
  // The leak check of a build with sanitizers traces the process and requires it to be dumpable.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

std::vector<pid_t> descendants_of(pid_t root) {
  const auto children = children_by_parent();
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

std::vector<pid_t> adopted_from(const std::filesystem::path& folder) {
  const std::string wanted = "HOME=" + folder.string();
  const auto belongs = [&](const std::filesystem::path& process) {
    // The environment is briefly unreadable while a process executes a new program.
    std::error_code failed;
    if (std::filesystem::read_symlink(process / "cwd", failed) == folder) return true;
    std::ifstream file(process / "environ");
    for (std::string variable; std::getline(file, variable, '\0');)
      if (variable == wanted) return true;
    return false;
  };
  std::vector<pid_t> found;
  for (const pid_t pid : descendants_of(::getpid()))
    if (belongs("/proc/" + std::to_string(pid))) found.push_back(pid);
  return found;
}

void end_processes(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes) ::kill(pid, SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (const pid_t pid : processes)
    while (::waitpid(pid, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace ratchet
