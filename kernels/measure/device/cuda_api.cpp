#include "kernels/measure/device/cuda_api.h"

#include <cstring>

namespace ratchet::measure {
namespace {

template <class Function>
Status find(const char* name, Function& function) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult state{};
  const auto error =
      cudaGetDriverEntryPointByVersion(name, &address, CUDA_VERSION, cudaEnableDefault, &state);
  if (error != cudaSuccess || state != cudaDriverEntryPointSuccess || !address)
    return unavailable(std::string("the CUDA driver has no function ") + name +
                           "; it is older than the CUDA toolkit that ratchet was built with",
                       "Update the NVIDIA driver.");
  function = reinterpret_cast<Function>(address);
  return {};
}

}  // namespace

std::string describe(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

Error cuda_error(std::string_view what, cudaError_t error) {
  const bool memory = error == cudaErrorMemoryAllocation;
  return {memory ? ErrorCode::unavailable : ErrorCode::internal,
          std::string(what) + ": " + describe(error),
          memory ? "Free device memory, or choose smaller sizes." : ""};
}

Result<Driver> Driver::load() {
  Driver driver;
  for (const auto& found :
       {find("cuCtxGetCurrent", driver.ctx_get_current),
        find("cuCtxRecordEvent", driver.ctx_record_event),
        find("cuCtxWaitEvent", driver.ctx_wait_event),
        find("cuModuleLoadData", driver.module_load_data),
        find("cuModuleGetFunction", driver.module_get_function),
        find("cuModuleUnload", driver.module_unload), find("cuLaunchKernel", driver.launch_kernel)})
    if (!found) return found.error();
  return driver;
}

Result<Sharing> Sharing::load() {
  Sharing sharing;
  for (const auto& found :
       {find("cuMemCreate", sharing.create), find("cuMemRelease", sharing.release),
        find("cuMemAddressReserve", sharing.reserve),
        find("cuMemAddressFree", sharing.free_address), find("cuMemMap", sharing.map),
        find("cuMemUnmap", sharing.unmap), find("cuMemSetAccess", sharing.set_access),
        find("cuMemExportToShareableHandle", sharing.export_handle),
        find("cuMemImportFromShareableHandle", sharing.import_handle),
        find("cuMemGetAllocationGranularity", sharing.granularity)})
    if (!found) return found.error();
  return sharing;
}

Result<DeviceMemory> DeviceMemory::allocate(std::size_t bytes) {
  DeviceMemory memory;
  if (const auto error = cudaMalloc(&memory.data_, bytes); error != cudaSuccess) {
    cudaGetLastError();
    return cuda_error("cannot allocate " + std::to_string(bytes) + " bytes on the device", error);
  }
  memory.bytes_ = bytes;
  return memory;
}

std::size_t free_device_memory() {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) return free;
  cudaGetLastError();
  return 0;
}

Status queue_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (const auto error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr);
      error != cudaSuccess)
    return cuda_error("cannot copy device memory", error);
  return {};
}

Status queue_clear(std::byte* data, std::size_t bytes) {
  if (const auto error = cudaMemsetAsync(data, 0, bytes, nullptr); error != cudaSuccess)
    return cuda_error("cannot clear device memory", error);
  return {};
}

Status read_device(const std::byte* from, std::span<std::byte> into) {
  if (const auto error = cudaMemcpy(into.data(), from, into.size(), cudaMemcpyDeviceToHost);
      error != cudaSuccess)
    return cuda_error("cannot read device memory", error);
  return {};
}

DeviceMemory::~DeviceMemory() {
  cudaFree(data_);
}

Status DeviceMemory::write(std::size_t offset, std::span<const std::byte> bytes) const {
  const auto error =
      cudaMemcpy(data() + offset, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  if (error == cudaSuccess) return {};
  return cuda_error("cannot copy to the device", error);
}

Status DeviceMemory::read(std::size_t offset, std::span<std::byte> bytes) const {
  const auto error =
      cudaMemcpy(bytes.data(), data() + offset, bytes.size(), cudaMemcpyDeviceToHost);
  if (error == cudaSuccess) return {};
  return cuda_error("cannot copy from the device", error);
}

PinnedMemory::~PinnedMemory() {
  cudaFreeHost(data_);
}

Result<PinnedMemory> PinnedMemory::allocate(std::size_t bytes) {
  void* data = nullptr;
  if (const auto error = cudaHostAlloc(&data, bytes, cudaHostAllocMapped); error != cudaSuccess) {
    cudaGetLastError();
    return cuda_error("cannot pin " + std::to_string(bytes) + " bytes of host memory", error);
  }
  std::memset(data, 0, bytes);
  return PinnedMemory(data, bytes);
}

Result<Event> Event::create() {
  cudaEvent_t event = nullptr;
  if (const auto error = cudaEventCreate(&event); error != cudaSuccess)
    return cuda_error("cannot create an event", error);
  return Event(event);
}

Event::~Event() {
  if (event_) cudaEventDestroy(event_);
}

std::optional<double> elapsed_ns(const Event& start, const Event& stop) {
  float milliseconds = 0;
  if (cudaEventElapsedTime(&milliseconds, start.get(), stop.get()) != cudaSuccess) {
    cudaGetLastError();
    return std::nullopt;
  }
  return static_cast<double>(milliseconds) * 1e6;
}

Result<Stream> Stream::create() {
  cudaStream_t stream = nullptr;
  if (const auto error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      error != cudaSuccess)
    return cuda_error("cannot create a stream", error);
  return Stream(stream);
}

Stream::~Stream() {
  if (stream_) cudaStreamDestroy(stream_);
}

}  // namespace ratchet::measure
