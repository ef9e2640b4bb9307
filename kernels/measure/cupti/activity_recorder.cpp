#include "kernels/measure/cupti/activity_recorder.h"

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace ratchet::measure {
namespace {

// Below malloc's mmap threshold: a buffer is allocated and freed around every timed call.
constexpr std::size_t kRecordBufferBytes = std::size_t{1} << 16U;
constexpr std::size_t kBufferAlignment = 8;  // ACTIVITY_RECORD_ALIGNMENT of CUPTI

/// The current recorder, as CUPTI's callbacks find it.
struct Listener {
  std::mutex mutex;
  const Cupti* cupti = nullptr;
  ActivityRecorder::Sink sink;
};

Listener& listener() {
  static Listener one;
  return one;
}

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kRecordBufferBytes));
  *bytes = *buffer ? kRecordBufferBytes : 0;
  *most_records = 0;
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  auto& one = listener();
  {
    const std::lock_guard lock(one.mutex);
    CUpti_Activity* record = nullptr;
    while (one.sink && one.cupti->activity_get_next_record(buffer, valid, &record) == CUPTI_SUCCESS)
      one.sink(*record);
  }
  std::free(buffer);  // NOLINT(cppcoreguidelines-no-malloc): CUPTI takes raw buffers
}

void listen(const Cupti* cupti, ActivityRecorder::Sink sink) {
  auto& one = listener();
  const std::lock_guard lock(one.mutex);
  one.cupti = cupti;
  one.sink = std::move(sink);
}

}  // namespace

Result<std::unique_ptr<ActivityRecorder>> ActivityRecorder::start(
    const Cupti& cupti, const std::vector<CUpti_ActivityKind>& kinds, Sink sink) {
  const auto failed = [&](const char* what, CUptiResult result) {
    return unavailable(std::string(what) + ": " + cupti.describe(result));
  };
  if (const auto result = cupti.activity_register_callbacks(give_buffer, take_buffer);
      result != CUPTI_SUCCESS)
    return failed("CUPTI rejects activity callbacks", result);
  listen(&cupti, std::move(sink));
  std::unique_ptr<ActivityRecorder> recorder(new ActivityRecorder(cupti, {}));
  for (const auto kind : kinds) {
    if (const auto result = cupti.activity_enable(kind); result != CUPTI_SUCCESS)
      return failed("CUPTI cannot record activity", result);
    recorder->kinds_.push_back(kind);
  }
  return recorder;
}

ActivityRecorder::~ActivityRecorder() {
  for (const auto kind : kinds_) cupti_.activity_disable(kind);
  listen(nullptr, {});
}

void ActivityRecorder::flush(bool forced) const {
  cupti_.activity_flush_all(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

}  // namespace ratchet::measure
