#include "kernels/worker/sandbox.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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

std::string drop_privileges(WorkerRole role, DeviceKind kind) {
  if (::geteuid() != 0) return "own user";
  // The supplementary groups of root may open doors that nobody's do not.
  std::string state;
  const bool groups = ::syscall(SYS_setgroups, 0, nullptr) == 0;
  const std::uint64_t counting = std::uint64_t{1} << CAP_SYS_ADMIN | std::uint64_t{1}
                                                                         << CAP_PERFMON;
  const bool keeps = role == WorkerRole::counter && kind == DeviceKind::cuda;
  // A GPU driver may reopen its device files later, as the user it was started by.
  const bool nobody = kind == DeviceKind::host && groups && become_nobody();
  if (nobody) return "user nobody, no capabilities";
  if (!keep_capabilities(keeps ? counting : 0)) return "root with capabilities";
  return keeps ? "root, counter capabilities only" : "root without capabilities";
}

FileAccess needed_files() {
  FileAccess access;
  access.readable = {"/usr",          "/lib",          "/lib64",        "/bin",
                     "/etc",          "/opt",          "/sys",          "/proc/self",
                     "/proc/stat",    "/proc/cpuinfo", "/proc/meminfo", "/proc/devices",
                     "/proc/modules", "/proc/driver",  "/proc/sys"};
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
  access.writable = {"/dev", std::filesystem::current_path(failed).string()};
  return access;
}

}  // namespace

Result<WorkerRole> parse_role(const std::string& text) {
  if (text == "judge") return WorkerRole::judge;
  if (text == "candidate") return WorkerRole::candidate;
  if (text == "counter") return WorkerRole::counter;
  return Error{ErrorCode::invalid_argument, "role \"" + text + "\" is not known",
               "judge, candidate or counter."};
}

std::string enter_sandbox(WorkerRole role, DeviceKind kind) {
  const auto parent = ::getppid();
  std::string on = drop_privileges(role, kind);
  // A change of user clears both of these.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::raise(SIGKILL);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return on + "; no seccomp, no Landlock";
  const std::string files = restrict_files(needed_files());
  const std::string calls = forbid_system_calls(kind);
  std::string missing;
  if (files.empty()) on += ", Landlock";
  if (calls.empty()) on = "seccomp, " + on;
  for (const auto& reason : {calls, files})
    if (!reason.empty()) missing += (missing.empty() ? "; " : ", ") + reason;
  return on + missing;
}

}  // namespace ratchet::worker
