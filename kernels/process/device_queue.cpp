#include "kernels/process/device_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "server/core/fields.h"

namespace ratchet {
namespace {

constexpr std::chrono::milliseconds kNap(50);

Error cancelled(const std::string& name) {
  return Error{ErrorCode::timed_out, "the call was canceled while it waited for " + name, ""};
}

}  // namespace

std::timed_mutex& DeviceQueue::mutex_of(const std::string& name) {
  const std::lock_guard lock(guard_);
  auto& mutex = mutexes_[name];
  if (!mutex) mutex = std::make_unique<std::timed_mutex>();
  return *mutex;
}

Result<DeviceQueue::Turn> DeviceQueue::wait(DeviceKind kind, int index, const CallContext& call) {
  const std::string name = fmt::format("{}-{}", name_of(kind), index);
  std::unique_lock<std::timed_mutex> lock(mutex_of(name), std::defer_lock);
  bool said = false;
  const auto say = [&] {
    if (!said) call.progress(0, std::nullopt, "waiting for device " + name);
    said = true;
  };
  while (!lock.try_lock_for(kNap)) {
    if (call.canceled()) return cancelled(name);
    say();
  }
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  const auto path = folder_ / (name + ".lock");
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file)
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                 "Give the server a writable state directory."};
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (call.canceled()) return cancelled(name);
    say();
    std::this_thread::sleep_for(kNap);
  }
  return Turn(std::move(lock), std::move(file));
}

}  // namespace ratchet
