#include "kernels/confine/walls.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/confine/identity.h"
#include "kernels/confine/limits.h"
#include "kernels/confine/private_root.h"
#include "kernels/confine/syscall_filter.h"

namespace ratchet::confine {
namespace {

namespace fs = std::filesystem;

/// What programs and their libraries read: of /etc only what describes the system, never accounts'
/// secrets; of /opt only the places of toolkits.
constexpr std::array kSystem{"/usr",
                             "/lib",
                             "/lib32",
                             "/lib64",
                             "/bin",
                             "/etc/ld.so.cache",
                             "/etc/ld.so.conf",
                             "/etc/ld.so.conf.d",
                             "/etc/ld.so.preload",
                             "/etc/alternatives",
                             "/etc/localtime",
                             "/etc/passwd",
                             "/etc/group",
                             "/etc/nsswitch.conf",
                             "/etc/os-release",
                             "/etc/debian_version",
                             "/etc/OpenCL",
                             "/etc/nvidia",
                             "/opt/nvidia",
                             "/opt/cuda",
                             "/opt/conda",
                             "/opt/rocm",
                             "/sys/devices/system",
                             "/proc/self",
                             "/proc/stat",
                             "/proc/cpuinfo",
                             "/proc/meminfo",
                             "/proc/version"};

// The GPU's driver reads the topology of the machine and its own settings.
constexpr std::array kDriver{"/sys",         "/proc/devices", "/proc/modules",
                             "/proc/driver", "/proc/sys",     "/proc/filesystems"};

constexpr std::array kNullDevices{"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                  "/dev/urandom"};

/// The node of one GPU: nvidia0.
bool is_one_gpu(std::string_view name) {
  constexpr std::string_view kGpu = "nvidia";
  return name.starts_with(kGpu) && name.size() > kGpu.size() &&
         name.find_first_not_of("0123456789", kGpu.size()) == std::string_view::npos;
}

/// Nodes of the GPU's driver that every program with kernels opens.
bool is_of_gpu(std::string_view name) {
  return is_one_gpu(name) || name == "nvidiactl" || name == "nvidia-uvm" || name == "dxg";
}

/// A variable that is meant for the walls alone: code that is loaded later does not find it.
std::optional<std::string> taken(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  std::string text = value;
  ::unsetenv(name);
  return text;
}

/// The entries of /dev that a process may open. It also contains shared folders and disks. Of the
/// nodes of single GPUs it opens only that of the run, where the server knows which one that is.
std::vector<std::string> devices_of(Devices devices, const std::optional<std::string>& only) {
  std::vector<std::string> found(kNullDevices.begin(), kNullDevices.end());
  if (devices == Devices::null) return found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/dev", failed)) {
    const auto name = entry.path().filename().string();
    const bool another = only && is_one_gpu(name) && entry.path() != *only;
    if (!another &&
        (is_of_gpu(name) || (devices == Devices::profiler && name.starts_with("nvidia"))))
      found.push_back(entry.path().string());
  }
  // Capabilities of parts of a GPU; the first two are to change and to watch how it is divided.
  for (const auto& entry : fs::directory_iterator("/dev/nvidia-caps", failed)) {
    const auto name = entry.path().filename().string();
    if (name != "nvidia-cap1" && name != "nvidia-cap2") found.push_back(entry.path().string());
  }
  if (devices == Devices::profiler) found.emplace_back("/dev/shm");
  return found;
}

}  // namespace

Walls::Walls(Role role, DeviceKind kind, std::vector<std::string> readable, std::string folder)
    : kind_(kind),
      profile_(profile_of(role, kind)),
      readable_(std::move(readable)),
      folder_(std::move(folder)),
      only_gpu_(taken("RATCHET_GPU_NODE")),
      required_(taken("RATCHET_REQUIRE_SANDBOX").has_value()) {}

void Walls::note(const Outcome& outcome) {
  (outcome.held ? held_ : missing_).push_back(outcome.text);
}

FileAccess Walls::needed_files() const {
  FileAccess access;
  access.readable.assign(kSystem.begin(), kSystem.end());
  if (kind_ == DeviceKind::cuda)
    access.readable.insert(access.readable.end(), kDriver.begin(), kDriver.end());
  access.readable.insert(access.readable.end(), readable_.begin(), readable_.end());
  std::error_code failed;
  access.readable.push_back(fs::read_symlink("/proc/self/exe", failed).parent_path().string());
  const char* variable = std::getenv("LD_LIBRARY_PATH");
  std::string_view folders = variable ? variable : "";
  while (!folders.empty()) {
    const auto colon = folders.find(':');
    if (colon != 0) access.readable.emplace_back(folders.substr(0, colon));
    folders = colon == std::string_view::npos ? "" : folders.substr(colon + 1);
  }
  access.writable = devices_of(profile_.devices, only_gpu_);
  // The driver names its threads, and fails where it cannot.
  if (kind_ == DeviceKind::cuda) access.writable.emplace_back("/proc/self/task");
  if (!folder_.empty()) access.writable.push_back(folder_);
  return access;
}

void Walls::enter() {
  const auto parent = ::getppid();
  const auto files = needed_files();
  volunteer_for_out_of_memory();
  Outcome root{false, ""};
  // Where there is no Landlock, a private root is better than none, for every role.
  if (profile_.private_root || (landlock_version() == 0 && !profile_.after_device))
    root = enter_private_root({files, profile_.starts_programs});
  auto needed = readable_;
  std::error_code failed;
  needed.push_back(fs::read_symlink("/proc/self/exe", failed).parent_path().string());
  const auto user = drop_privileges(profile_.capabilities, profile_.own_user, folder_, needed);
  limit_resources(profile_, root.held || user_is_its_own());
  // A change of user clears both settings.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::raise(SIGKILL);
  note(user);
  if (root.held || profile_.private_root) note(root);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) missing_.emplace_back("no no_new_privs");
  const auto restricted = restrict_files(files, profile_.isolated);
  note(restricted);
  files_held_ = root.held || restricted.held;
}

void Walls::seal() {
  auto calls = forbid_system_calls(profile_, kind_);
  if (calls.held) {
    const auto covered = all_threads_covered(profile_);
    calls = {covered.held, covered.held ? calls.text + " " + covered.text : covered.text};
  }
  calls_held_ = calls.held;
  if (calls.held)
    held_.insert(held_.begin(), calls.text);
  else
    missing_.insert(missing_.begin(), calls.text);
}

std::string Walls::text() const {
  std::string text;
  for (const auto& one : held_) text += (text.empty() ? "" : ", ") + one;
  for (std::size_t i = 0; i < missing_.size(); ++i) text += (i == 0 ? "; " : ", ") + missing_[i];
  return text;
}

std::string Walls::lacking() const {
  if (!required_ || (files_held_ && calls_held_)) return "";
  return "this machine cannot isolate foreign code: " + text() +
         ". Run the server as a user who owns nothing, with --no-require-sandbox, to go on without";
}

}  // namespace ratchet::confine
