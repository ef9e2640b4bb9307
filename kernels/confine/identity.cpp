#include "kernels/confine/identity.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "kernels/confine/test_switch.h"

namespace ratchet::confine {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kFirstOwn = 2'000'000'000;  // see process/private_folder.cpp

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

/// The owner of the folder; 0 (root) if there is none.
unsigned owner_of(const std::string& folder) {
  struct stat state{};
  return !folder.empty() && ::stat(folder.c_str(), &state) == 0 ? state.st_uid : 0;
}

bool become(unsigned user) {
  return ::setresgid(user, user, user) == 0 && ::setresuid(user, user, user) == 0;
}

/// Whether every user may read this file, or enter this folder, and all its parents.
bool open_to_all(const fs::path& path) {
  std::error_code failed;
  for (auto at = fs::weakly_canonical(path, failed); at != at.parent_path();
       at = at.parent_path()) {
    struct stat state{};
    if (::stat(at.c_str(), &state) != 0) return true;  // does not exist, so it is not needed
    const mode_t wanted = S_ISDIR(state.st_mode) ? S_IXOTH : S_IROTH;
    if ((state.st_mode & wanted) == 0) return false;
  }
  return true;
}

}  // namespace

bool user_is_its_own() {
  return ::geteuid() >= kFirstOwn;
}

Outcome drop_privileges(std::uint64_t kept, bool becomes_other, const std::string& folder,
                        const std::vector<std::string>& needed) {
  if (taken_out("user")) return {false, "no own user (taken out)"};
  if (::geteuid() != 0) {
    // In a user namespace of its own the process has all capabilities there.
    if (!keep_capabilities(0)) return {false, "no dropped capabilities"};
    return {true, "the server's user"};
  }
  // The supplementary groups of root may grant access that another user does not have.
  const bool groups = ::syscall(SYS_setgroups, 0, nullptr) == 0;
  const unsigned user = owner_of(folder);
  const bool reachable =
      open_to_all(fs::path(folder).parent_path()) && std::ranges::all_of(needed, open_to_all);
  if (becomes_other && user != 0 && groups && reachable) {
    for (int capability = 0; capability <= CAP_LAST_CAP; ++capability)
      ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    if (become(user))
      return {true,
              user_is_its_own() ? "own user, no capabilities" : "user nobody, no capabilities"};
  }
  // Without capabilities root can write only to its own files.
  if (!folder.empty()) (void)!::chown(folder.c_str(), 0, 0);
  if (!keep_capabilities(kept)) return {false, "no dropped capabilities (root)"};
  return {true, kept ? "root, counter capabilities only" : "root without capabilities"};
}

}  // namespace ratchet::confine
