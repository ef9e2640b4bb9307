#include "kernels/process/device_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "server/core/fields.h"

namespace ratchet {
namespace {

constexpr std::chrono::milliseconds kNap(50);
constexpr std::chrono::seconds kLeftFor(3);  // with what is left for a next job
constexpr std::chrono::seconds kHeldFor(60);

Error cancelled(const std::string& name) {
  return Error{ErrorCode::timed_out, "the call was canceled while it waited for " + name, ""};
}

/// One more who waits, while it lives.
class Waiter {
 public:
  explicit Waiter(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Waiter() { --count_; }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

 private:
  std::atomic<int>& count_;
};

bool is_file_name(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-';
  });
}

}  // namespace

std::string DeviceQueue::name_of_device(DeviceKind kind, int index, const CallContext& call) const {
  const auto own = identify_ ? identify_(kind, index, call) : "";
  return fmt::format("{}-{}", name_of(kind), is_file_name(own) ? own : std::to_string(index));
}

DeviceQueue::Device& DeviceQueue::device_of(const std::string& name) {
  const std::lock_guard lock(guard_);
  auto& device = devices_[name];
  if (!device) device = std::make_unique<Device>();
  return *device;
}

/// `go_on` is asked while another server holds the lock.
Result<Fd> DeviceQueue::lock_file(const std::string& name,
                                  const std::function<bool()>& go_on) const {
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  const auto path = folder_ / (name + ".lock");
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file)
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                 "Give the server a writable state directory."};
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (!go_on()) return cancelled(name);
    std::this_thread::sleep_for(kNap);
  }
  return file;
}

std::unique_ptr<DeviceQueue::Left> DeviceQueue::taken_from(Device& device) {
  const std::lock_guard lock(guard_);
  return std::move(device.left);
}

void DeviceQueue::leave(const Turn& turn, std::unique_ptr<Left> left, bool follows) {
  leave(*turn.device_, std::move(left),
        std::chrono::steady_clock::now() + (follows ? kHeldFor : kLeftFor));
}

void DeviceQueue::give_back(const Turn& turn, std::unique_ptr<Left> left) {
  if (!left) return;
  const auto least = std::chrono::steady_clock::now() + kLeftFor;
  const auto before = [&] {
    const std::lock_guard lock(guard_);
    return turn.device_->until;
  }();
  leave(*turn.device_, std::move(left), std::max(least, before));
}

void DeviceQueue::hold(DeviceKind kind, int index, const CallContext& call) {
  Device& device = device_of(name_of_device(kind, index, call));
  const std::lock_guard lock(guard_);
  if (device.left) device.until = std::chrono::steady_clock::now() + kHeldFor;
}

void DeviceQueue::leave(Device& device, std::unique_ptr<Left> left,
                        std::chrono::steady_clock::time_point until) {
  const std::lock_guard lock(guard_);
  device.left = std::move(left);
  device.until = until;
  ++times_left_;
  left_.notify_all();
  if (!ender_.joinable())
    ender_ = std::jthread([this](const std::stop_token& stop) { end_what_is_left(stop); });
}

void DeviceQueue::end_what_is_left(const std::stop_token& stop) {
  std::unique_lock lock(guard_);
  while (!stop.stop_requested()) {
    const auto now = std::chrono::steady_clock::now();
    auto next = now + std::chrono::hours(1);
    std::unique_ptr<Left> over;
    for (auto& [name, device] : devices_) {
      if (!device->left) continue;
      if (device->until <= now)
        over = std::move(device->left);
      else
        next = std::min(next, device->until);
    }
    if (over) {
      lock.unlock();
      over.reset();  // takes as long as processes take to end
      lock.lock();
      continue;
    }
    left_.wait_until(lock, stop, next, [&, seen = times_left_] { return times_left_ != seen; });
  }
}

Result<DeviceQueue::Turn> DeviceQueue::wait(DeviceKind kind, int index, const CallContext& call,
                                            std::unique_ptr<Left>* left) {
  const std::string name = name_of_device(kind, index, call);
  Device& device = device_of(name);
  const Waiter waiter(device.waiting);
  auto spare = [&] {
    const std::lock_guard lock(guard_);
    return device.spare;
  }();
  spare.request_stop();
  bool said = false;
  const auto go_on = [&] {
    if (!std::exchange(said, true)) call.progress(0, std::nullopt, "waiting for device " + name);
    return !call.canceled();
  };
  std::unique_lock<std::timed_mutex> lock(device.mutex, std::defer_lock);
  while (!lock.try_lock_for(kNap))
    if (!go_on()) return cancelled(name);
  auto file = lock_file(name, go_on);
  if (!file) return file.error();
  auto before = taken_from(device);
  if (left) *left = std::move(before);
  return Turn(device, std::move(lock), *std::move(file));
}

Result<DeviceQueue::Turn> DeviceQueue::wait_for_spare_time(DeviceKind kind, int index,
                                                           std::stop_source wanted) {
  const std::string name = name_of_device(kind, index, CallContext({}, wanted.get_token()));
  Device& device = device_of(name);
  std::unique_lock<std::timed_mutex> lock(device.mutex, std::defer_lock);
  while (true) {
    if (wanted.stop_requested()) return cancelled(name);
    if (lock.try_lock_for(kNap)) {
      // A job that begins to wait after this stops `wanted`; one from before is counted already.
      const std::lock_guard changed(guard_);
      device.spare = wanted;
      if (device.waiting == 0) break;
      lock.unlock();
    }
    std::this_thread::sleep_for(kNap);
  }
  auto file = lock_file(name, [&] { return !wanted.stop_requested(); });
  if (!file) return file.error();
  taken_from(device).reset();
  return Turn(device, std::move(lock), *std::move(file));
}

}  // namespace ratchet
