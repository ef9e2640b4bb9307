#include "kernels/measure/activity.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace ratchet::measure {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;
constexpr std::size_t kBufferAlignment = 8;  // ACTIVITY_RECORD_ALIGNMENT of CUPTI

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

/// Where CUPTI's buffer callbacks put the records: they carry no pointer of ours.
struct Recorder {
  const Cupti* cupti = nullptr;
  std::mutex mutex;
  std::vector<Launch> launches;
};

std::atomic<Recorder*>& current() {
  static std::atomic<Recorder*> recorder = nullptr;
  return recorder;
}

Launch launch_of(const KernelRecord& record) {
  return {.kernel = readable_kernel_name(record.name ? record.name : "unknown"),
          .start_ns = static_cast<double>(record.start),
          .end_ns = static_cast<double>(record.end),
          .grid = {record.gridX, record.gridY, record.gridZ},
          .block = {record.blockX, record.blockY, record.blockZ},
          .cluster = {static_cast<int>(record.clusterX), static_cast<int>(record.clusterY),
                      static_cast<int>(record.clusterZ)},
          .registers = record.registersPerThread,
          .static_shared_bytes = record.staticSharedMemory,
          .dynamic_shared_bytes = record.dynamicSharedMemory,
          .configured_shared_bytes = record.sharedMemoryExecuted,
          .stream = record.streamId,
          .correlation = record.correlationId};
}

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer ? kBufferBytes : 0;
  *most_records = 0;
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  if (auto* recorder = current().load()) {
    const std::lock_guard lock(recorder->mutex);
    CUpti_Activity* record = nullptr;
    while (recorder->cupti->activity_get_next_record(buffer, valid, &record) == CUPTI_SUCCESS)
      if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
          record->kind == CUPTI_ACTIVITY_KIND_KERNEL)
        recorder->launches.push_back(launch_of(*reinterpret_cast<const KernelRecord*>(record)));
  }
  std::free(buffer);
}

/// Start of the parameter list at the end of a demangled name, or its length.
std::size_t parameters_at(const std::string& name) {
  if (name.empty() || name.back() != ')') return name.size();
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return name.size();
}

}  // namespace

std::string readable_kernel_name(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !demangled) return name;
  std::string text = demangled.get();
  text.resize(parameters_at(text));
  // Only templates carry their return type, and a kernel's is void.
  if (text.starts_with("void ")) text.erase(0, 5);
  return text;
}

Result<Observed> observe(Gpu& gpu, const Cupti& cupti, const Call& call) {
  Recorder recorder;
  recorder.cupti = &cupti;
  const auto failed = [&](const char* what, CUptiResult result) {
    current().store(nullptr);
    return Error{ErrorCode::unavailable, std::string(what) + ": " + cupti.describe(result), ""};
  };
  if (const auto result = cupti.activity_register_callbacks(give_buffer, take_buffer);
      result != CUPTI_SUCCESS)
    return failed("CUPTI takes no activity callbacks", result);
  if (const auto result = cupti.activity_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
      result != CUPTI_SUCCESS)
    return failed("CUPTI records no kernels", result);
  current().store(&recorder);
  Observed observed;
  call();
  observed.failure = gpu.finish();
  cupti.activity_flush_all(observed.failure ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  cupti.activity_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  current().store(nullptr);
  const std::lock_guard lock(recorder.mutex);
  observed.launches = std::move(recorder.launches);
  std::sort(observed.launches.begin(), observed.launches.end(),
            [](const Launch& a, const Launch& b) { return a.correlation < b.correlation; });
  return observed;
}

}  // namespace ratchet::measure
