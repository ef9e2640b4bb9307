// For LD_PRELOAD: a clock that can jump, and a disk whose syncs are slow.
//
// RATCHET_LOAD_CLOCK names a file of eight bytes: seconds to add to the clock of the day.
// RATCHET_LOAD_SYNC_MS is how much longer each sync takes.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

const std::atomic<std::int64_t>* offset_in_file() {
  static const std::int64_t none = 0;
  const char* const path = std::getenv("RATCHET_LOAD_CLOCK");
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
  void* const page = file < 0 ? MAP_FAILED : ::mmap(nullptr, 8, PROT_READ, MAP_SHARED, file, 0);
  if (file >= 0) ::close(file);
  return reinterpret_cast<const std::atomic<std::int64_t>*>(page == MAP_FAILED ? &none : page);
}

std::int64_t offset() {
  static const auto* const seconds = offset_in_file();
  return seconds->load(std::memory_order_relaxed);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void wait_for_the_disk() {
  static const char* const text = std::getenv("RATCHET_LOAD_SYNC_MS");
  if (text != nullptr) ::usleep(static_cast<useconds_t>(std::atoi(text)) * 1000);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static auto* const real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += offset();
  return result;
}

int gettimeofday(timeval* now, void* zone) noexcept {
  static auto* const real = next<int(timeval*, void*)>("gettimeofday");
  const int result = real(now, zone);
  if (result == 0) now->tv_sec += offset();
  return result;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int fsync(int file) {
  static auto* const real = next<int(int)>("fsync");
  wait_for_the_disk();
  return real(file);
}

int fdatasync(int file) {
  static auto* const real = next<int(int)>("fdatasync");
  wait_for_the_disk();
  return real(file);
}
}
