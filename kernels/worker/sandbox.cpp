#include "kernels/worker/sandbox.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "kernels/worker/landlock.h"
#include "kernels/worker/syscall_filter.h"

namespace ratchet::worker {
namespace {

constexpr unsigned kNobody = 65534;  // the overflow user of every Linux

/// Sets permitted and effective capabilities to `kept` and empties the bounding set.
bool keep_capabilities(std::uint64_t kept) {
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability)
    if (!(kept >> capability & 1U)) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const auto low = static_cast<std::uint32_t>(kept);
  const auto high = static_cast<std::uint32_t>(kept >> 32U);
  const std::array<__user_cap_data_struct, 2> data{__user_cap_data_struct{low, low, 0},
                                                   __user_cap_data_struct{high, high, 0}};
  return ::syscall(SYS_capset, &header, data.data()) == 0;
}

bool become_nobody() {
  return ::setresgid(kNobody, kNobody, kNobody) == 0 && ::setresuid(kNobody, kNobody, kNobody) == 0;
}

/// Whether every user may enter this folder and all its parents.
bool open_to_all(const std::filesystem::path& path) {
  std::error_code failed;
  for (auto at = std::filesystem::weakly_canonical(path, failed); at != at.parent_path();
       at = at.parent_path()) {
    const auto mode = std::filesystem::status(at, failed).permissions();
    if (failed) return true;  // does not exist, so it is not needed
    if ((mode & std::filesystem::perms::others_exec) == std::filesystem::perms::none &&
        std::filesystem::is_directory(at, failed))
      return false;
  }
  return true;
}

std::string drop_privileges(WorkerRole role, DeviceKind kind,
                            const std::vector<std::string>& readable) {
  if (::geteuid() != 0) return "own user";
  // The supplementary groups of root may grant access that `nobody` does not have.
  const bool groups = ::syscall(SYS_setgroups, 0, nullptr) == 0;
  const std::uint64_t counting = std::uint64_t{1} << CAP_SYS_ADMIN | std::uint64_t{1}
                                                                         << CAP_PERFMON;
  const bool counts = role == WorkerRole::counter || role == WorkerRole::profiled;
  const bool keeps = counts && kind == DeviceKind::cuda;
  // A GPU driver may reopen its device files later, which needs the original user.
  const bool reachable = std::ranges::all_of(readable, open_to_all);
  const bool nobody = kind == DeviceKind::host && reachable && groups && become_nobody();
  if (nobody) return "user nobody, no capabilities";
  // Without capabilities root can write only to its own files; see PrivateFolder. ncu's library in
  // a profiled process counts nothing if it cannot write there.
  (void)!::chown(".", 0, 0);
  if (!keep_capabilities(keeps ? counting : 0)) return "root with capabilities";
  return keeps ? "root, counter capabilities only" : "root without capabilities";
}

/// The entries of /dev that a process may open. A kernel gets only what it needs: /dev also
/// contains shared folders and disks.
std::vector<std::string> devices_of(WorkerRole role, DeviceKind kind) {
  const bool cuda = kind == DeviceKind::cuda;
  const bool kernel = role == WorkerRole::candidate || (role == WorkerRole::counter && !cuda);
  if (!kernel) return {"/dev"};  // the devices that profilers and tools open are undocumented
  std::vector<std::string> devices{"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                   "/dev/urandom"};
  if (!cuda) return devices;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", failed)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("nvidia") || name == "dxg") devices.push_back(entry.path().string());
  }
  return devices;
}

FileAccess needed_files(WorkerRole role, DeviceKind kind,
                        const std::vector<std::string>& readable) {
  FileAccess access;
  access.readable = {"/usr",          "/lib",          "/lib64",        "/bin",
                     "/etc",          "/opt",          "/sys",          "/proc/self",
                     "/proc/stat",    "/proc/cpuinfo", "/proc/meminfo", "/proc/devices",
                     "/proc/modules", "/proc/driver",  "/proc/sys"};
  access.readable.insert(access.readable.end(), readable.begin(), readable.end());
  std::error_code failed;
  access.readable.push_back(
      std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().string());
  const char* variable = std::getenv("LD_LIBRARY_PATH");
  std::string_view folders = variable ? variable : "";
  while (!folders.empty()) {
    const auto colon = folders.find(':');
    access.readable.emplace_back(folders.substr(0, colon));
    folders = colon == std::string_view::npos ? "" : folders.substr(colon + 1);
  }
  access.writable = devices_of(role, kind);
  access.writable.push_back(std::filesystem::current_path(failed).string());
  return access;
}

}  // namespace

Result<WorkerRole> parse_role(const std::string& text) {
  if (text == "judge") return WorkerRole::judge;
  if (text == "candidate") return WorkerRole::candidate;
  if (text == "counter") return WorkerRole::counter;
  if (text == "compiler") return WorkerRole::compiler;
  if (text == "baseline") return WorkerRole::baseline;
  if (text == "tool") return WorkerRole::tool;
  if (text == "profiled") return WorkerRole::profiled;
  return Error{ErrorCode::invalid_argument, "unknown role \"" + text + "\"",
               "Use judge, candidate, counter, compiler, baseline, tool or profiled."};
}

std::string enter_sandbox(WorkerRole role, DeviceKind kind,
                          const std::vector<std::string>& readable) {
  const bool starts_programs = role == WorkerRole::compiler || role == WorkerRole::baseline;
  const auto parent = ::getppid();
  std::string on = drop_privileges(role, kind, readable);
  // A change of user clears both settings.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::raise(SIGKILL);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return on + "; no seccomp, no Landlock";
  const std::string files = restrict_files(needed_files(role, kind, readable));
  const std::string calls = forbid_system_calls(kind, starts_programs);
  std::string missing;
  if (files.empty()) on += ", Landlock";
  if (calls.empty()) on = "seccomp, " + on;
  for (const auto& reason : {calls, files})
    if (!reason.empty()) missing += (missing.empty() ? "; " : ", ") + reason;
  return on + missing;
}

}  // namespace ratchet::worker
