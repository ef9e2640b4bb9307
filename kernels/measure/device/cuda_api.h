#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "server/core/result.h"

namespace ratchet::measure {

/// "cudaErrorIllegalAddress: an illegal memory access was encountered".
[[nodiscard]] std::string describe(cudaError_t error);

/// An error for a failed CUDA call of ratchet itself. `what`: "cannot allocate 4096 bytes on the
/// device".
[[nodiscard]] Error cuda_error(std::string_view what, cudaError_t error);

/// Driver functions that have no counterpart in the runtime, looked up through the runtime. No
/// program of ratchet links libcuda, so all of them start without a driver and can report it.
struct Driver {
  decltype(&::cuCtxGetCurrent) ctx_get_current = nullptr;
  decltype(&::cuCtxRecordEvent) ctx_record_event = nullptr;
  decltype(&::cuCtxWaitEvent) ctx_wait_event = nullptr;
  decltype(&::cuModuleLoadData) module_load_data = nullptr;
  decltype(&::cuModuleGetFunction) module_get_function = nullptr;
  decltype(&::cuModuleUnload) module_unload = nullptr;
  decltype(&::cuLaunchKernel) launch_kernel = nullptr;

  /// Errors: `unavailable`, naming the function that the installed driver lacks.
  static Result<Driver> load();
};

/// Driver functions that share memory between processes.
struct Sharing {
  decltype(&::cuMemCreate) create = nullptr;
  decltype(&::cuMemRelease) release = nullptr;
  decltype(&::cuMemAddressReserve) reserve = nullptr;
  decltype(&::cuMemAddressFree) free_address = nullptr;
  decltype(&::cuMemMap) map = nullptr;
  decltype(&::cuMemUnmap) unmap = nullptr;
  decltype(&::cuMemSetAccess) set_access = nullptr;
  decltype(&::cuMemExportToShareableHandle) export_handle = nullptr;
  decltype(&::cuMemImportFromShareableHandle) import_handle = nullptr;
  decltype(&::cuMemGetAllocationGranularity) granularity = nullptr;

  /// Errors: as Driver::load.
  static Result<Sharing> load();
};

/// Device memory from cudaMalloc.
class DeviceMemory {
 public:
  static Result<DeviceMemory> allocate(std::size_t bytes);
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory();

  /// Copies between `bytes` and the memory from `offset` on; complete on return.
  Status write(std::size_t offset, std::span<const std::byte> bytes) const;
  Status read(std::size_t offset, std::span<std::byte> bytes) const;

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Bytes of device memory that no process has allocated; 0 if the runtime does not say.
std::size_t free_device_memory();

/// For device memory of any origin. The first two are queued on the legacy stream, the last one is
/// complete on return.
Status queue_copy(std::byte* to, const std::byte* from, std::size_t bytes);
Status queue_clear(std::byte* data, std::size_t bytes);
Status read_device(const std::byte* from, std::span<std::byte> into);

/// Zeroed host memory that the device reads and writes at the same address.
class PinnedMemory {
 public:
  static Result<PinnedMemory> allocate(std::size_t bytes);
  PinnedMemory(PinnedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  PinnedMemory& operator=(PinnedMemory&&) = delete;
  ~PinnedMemory();

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  explicit PinnedMemory(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  void* data_;
  std::size_t bytes_;
};

class Event {
 public:
  static Result<Event> create();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event();
  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  explicit Event(cudaEvent_t event) : event_(event) {}
  cudaEvent_t event_;
};

/// Device time from `start` to `stop`, ns; empty when either has not completed.
[[nodiscard]] std::optional<double> elapsed_ns(const Event& start, const Event& stop);

/// A stream that does not synchronize with the legacy stream.
class Stream {
 public:
  static Result<Stream> create();
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream();
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  explicit Stream(cudaStream_t stream) : stream_(stream) {}
  cudaStream_t stream_;
};

}  // namespace ratchet::measure
