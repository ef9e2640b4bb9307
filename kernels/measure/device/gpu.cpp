#include "kernels/measure/device/gpu.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>

#include "kernels/measure/device/other_runtimes.h"
#include "measure_ptx.h"

namespace ratchet::measure {
namespace {

constexpr unsigned kThreads = 256;
// Blocks of 256 threads on a multiprocessor: 8 × 256 = 2048, all threads that a data-center chip
// holds; other chips queue the rest.
constexpr unsigned kBlocksPerMultiprocessor = 8;
constexpr std::size_t kVectorBytes = 16;                  // one load, see measure.ptx
constexpr std::size_t kVectorsPerThread = 4;              // loads of a thread in one sweep
constexpr std::size_t kPageBytes = std::size_t{2} << 20;  // page size of arenas, see measure.ptx

std::string cuda_text(int version) {
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The newest version that the driver supports.
std::string driver_supports() {
  int version = 0;
  cudaDriverGetVersion(&version);
  return cuda_text(version);
}

Error no_device(cudaError_t error) {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    return {ErrorCode::unavailable, "no CUDA driver: libcuda.so.1 was not found",
            "Install the NVIDIA driver, or use the host device."};
  dlclose(library);
  const std::string text = describe(error);
  if (error == cudaErrorInsufficientDriver)
    return {ErrorCode::unavailable,
            "the NVIDIA driver is too old: it supports " + driver_supports() +
                ", and ratchet was built with " + cuda_text(CUDART_VERSION) +
                ". Update the driver, or build ratchet with an older toolkit",
            ""};
  return {ErrorCode::unavailable, "no usable CUDA device: " + text,
          "Check the output of nvidia-smi, or use the host device."};
}

std::string driver_text() {
  std::string release;
  std::ifstream("/sys/module/nvidia/version") >> release;
  const auto cuda = driver_supports();
  return release.empty() ? cuda : release + " (" + cuda + ")";
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += hex.data();
  }
  return text;
}

/// 0 where the driver does not tell.
double max_clock_mhz(int index) {
  int kilohertz = 0;
  const auto error = cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, index);
  return error == cudaSuccess ? kilohertz / 1e3 : 0;
}

GpuFacts facts_of(const cudaDeviceProp& device, int index, int devices) {
  return {.index = index,
          .devices = devices,
          .name = device.name,
          .arch = "sm_" + std::to_string(device.major) + std::to_string(device.minor),
          .uuid = uuid_text(device.uuid),
          .driver = driver_text(),
          .memory_bytes = static_cast<std::int64_t>(device.totalGlobalMem),
          .l2_bytes = device.l2CacheSize,
          .multiprocessors = device.multiProcessorCount,
          .max_clock_mhz = max_clock_mhz(index)};
}

}  // namespace

Result<std::unique_ptr<Gpu>> Gpu::open(int index) {
  int count = 0;
  if (const auto error = cudaGetDeviceCount(&count); error != cudaSuccess) return no_device(error);
  if (index < 0 || index >= count)
    return not_found("device " + std::to_string(index) + " does not exist: this machine has " +
                         std::to_string(count) + " CUDA device(s)",
                     "Devices are counted from 0.");
  std::unique_ptr<Gpu> gpu(new Gpu);
  if (const auto error = cudaGetDeviceProperties(&gpu->properties_, index); error != cudaSuccess)
    return no_device(error);
  if (const auto error = cudaSetDevice(index); error != cudaSuccess) return no_device(error);
  if (const auto error = cudaFree(nullptr); error != cudaSuccess)
    return unavailable("cannot create a CUDA context: " + describe(error),
                       "Is the device's memory full, or its compute mode exclusive?");
  gpu->facts_ = facts_of(gpu->properties_, index, count);
  auto driver = Driver::load();
  if (!driver) return driver.error();
  gpu->driver_ = *driver;
  if (gpu->driver_.ctx_get_current(&gpu->context_) != CUDA_SUCCESS || !gpu->context_)
    return Error{ErrorCode::internal, "the CUDA runtime made no current context"};
  if (auto loaded = gpu->load_code(); !loaded) return loaded.error();
  return gpu;
}

Gpu::~Gpu() {
  if (module_) driver_.module_unload(module_);
}

Status Gpu::load_code() {
  if (const auto error = driver_.module_load_data(&module_, kMeasurePtx); error != CUDA_SUCCESS)
    return unavailable(
        "the driver cannot assemble the device code of ratchet: error " +
            std::to_string(static_cast<int>(error)),
        "Use a GPU of compute capability 7.5 or newer, and install libnvidia-ptxjitcompiler.so.1.");
  for (const auto& [name, function] : {std::pair{"ratchet_stream_blocker", &block_stream_},
                                       {"ratchet_stamp", &stamp_},
                                       {"ratchet_read", &read_},
                                       {"ratchet_touch", &touch_},
                                       {"ratchet_small_copies", &small_copies_}})
    if (driver_.module_get_function(function, module_, name) != CUDA_SUCCESS)
      return Error{ErrorCode::internal,
                   std::string("ratchet's own device code has no function ") + name};
  auto sink = DeviceMemory::allocate(sizeof(std::uint64_t));
  if (!sink) return sink.error();
  sink_ = *std::move(sink);
  return {};
}

Status Gpu::launch(CUfunction function, unsigned blocks, unsigned threads, cudaStream_t stream,
                   std::span<void*> arguments) const {
  const auto error = driver_.launch_kernel(function, blocks, 1, 1, threads, 1, 1, 0, stream,
                                           arguments.data(), nullptr);
  if (error == CUDA_SUCCESS) return {};
  return Error{ErrorCode::internal, "cannot launch a kernel of ratchet itself: driver error " +
                                        std::to_string(static_cast<int>(error))};
}

unsigned Gpu::blocks() const {
  return static_cast<unsigned>(facts_.multiprocessors) * kBlocksPerMultiprocessor;
}

Status Gpu::block_stream(cudaStream_t stream, void* words, std::uint64_t limit_ns) const {
  std::array<void*, 2> arguments{static_cast<void*>(&words), static_cast<void*>(&limit_ns)};
  return launch(block_stream_, 1, 1, stream, arguments);
}

Status Gpu::stamp(void* stamps) const {
  std::array<void*, 1> arguments{static_cast<void*>(&stamps)};
  // Two blocks of 1024 threads fill a multiprocessor, so every multiprocessor runs a block.
  return launch(stamp_, 2 * static_cast<unsigned>(facts_.multiprocessors), 1024, nullptr,
                arguments);
}

std::size_t Gpu::read_step_bytes() const {
  return kVectorBytes * kVectorsPerThread * blocks() * kThreads;
}

double Gpu::bytes_read(const DeviceMemory& memory, std::uint32_t repeats) const {
  const auto steps = memory.bytes() / read_step_bytes();
  return static_cast<double>(steps * read_step_bytes()) * repeats;
}

Status Gpu::read(const DeviceMemory& memory, std::uint32_t repeats) const {
  void* data = memory.data();
  std::uint64_t vectors = memory.bytes() / read_step_bytes() * (read_step_bytes() / kVectorBytes);
  void* sink = sink_.data();
  std::array<void*, 4> arguments{static_cast<void*>(&data), static_cast<void*>(&vectors),
                                 static_cast<void*>(&repeats), static_cast<void*>(&sink)};
  return launch(read_, blocks(), kThreads, nullptr, arguments);
}

Status Gpu::touch(std::span<const std::byte> memory) const {
  const void* data = memory.data();
  std::uint64_t pages = (memory.size() + kPageBytes - 1) / kPageBytes;
  std::array<void*, 2> arguments{static_cast<void*>(&data), static_cast<void*>(&pages)};
  return launch(touch_, static_cast<unsigned>(facts_.multiprocessors), kThreads, nullptr,
                arguments);
}

Status Gpu::small_copies(void* entries, std::uint32_t count, bool write) const {
  std::uint32_t direction = write ? 1 : 0;
  std::array<void*, 3> arguments{static_cast<void*>(&entries), static_cast<void*>(&count),
                                 static_cast<void*>(&direction)};
  return launch(small_copies_, (count + kThreads - 1) / kThreads, kThreads, nullptr, arguments);
}

Result<DeviceCode> Gpu::assemble(const std::string& ptx, const char* entry) const {
  CUmodule module = nullptr;
  if (const auto error = driver_.module_load_data(&module, ptx.c_str()); error != CUDA_SUCCESS)
    return unavailable("the driver cannot assemble the device code of ratchet: error " +
                       std::to_string(static_cast<int>(error)));
  CUfunction function = nullptr;
  const bool found = driver_.module_get_function(&function, module, entry) == CUDA_SUCCESS;
  DeviceCode code(driver_, module, function);
  if (!found)
    return Error{ErrorCode::internal,
                 std::string("the device code of ratchet has no function ") + entry};
  return code;
}

Status Gpu::launch(const DeviceCode& code, unsigned blocks, unsigned threads,
                   std::span<void*> arguments) const {
  return launch(code.entry(), blocks, threads, nullptr, arguments);
}

std::optional<std::string> Gpu::finish() {
  auto error = cudaDeviceSynchronize();
  const auto ours = cudaGetLastError();
  if (error == cudaSuccess) error = ours;
  auto theirs = take_error_of_other_runtimes();
  if (error != cudaSuccess) return describe(error);
  return theirs;
}

}  // namespace ratchet::measure
