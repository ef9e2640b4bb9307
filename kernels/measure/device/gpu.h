#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kernels/measure/device/cuda_api.h"
#include "server/core/result.h"

namespace ratchet::measure {

/// One call of the code under measurement. Returns when the host code returns; the work it queued
/// may still be running.
using Call = std::function<void()>;

/// A call with its preparation and its check, both outside the measured window and both optional.
struct Turn {
  Call call;
  std::function<void()> before;       ///< prepares the data; runs before the flush
  std::function<bool()> after;        ///< false when outputs of the call were missing
  std::span<const std::byte> memory;  ///< memory the call works on, if known
};

struct GpuFacts {
  int index = 0;
  int devices = 0;  ///< devices visible to this process
  std::string name;
  std::string arch;    ///< "sm_90"
  std::string uuid;    ///< "GPU-…", as nvidia-smi prints it
  std::string driver;  ///< "580.159.04 (CUDA 13.0)"
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  int multiprocessors = 0;
  double max_clock_mhz = 0;  ///< highest clock of the multiprocessors; 0: not told
};

/// A loaded module and its entry. Unloaded by the destructor; `driver` must outlive it.
class DeviceCode {
 public:
  DeviceCode(const Driver& driver, CUmodule module, CUfunction entry)
      : driver_(&driver), module_(module), entry_(entry) {}
  DeviceCode(DeviceCode&& other) noexcept
      : driver_(other.driver_),
        module_(std::exchange(other.module_, nullptr)),
        entry_(other.entry_) {}
  DeviceCode& operator=(DeviceCode&&) = delete;
  ~DeviceCode() {
    if (module_) driver_->module_unload(module_);
  }
  [[nodiscard]] CUfunction entry() const { return entry_; }

 private:
  const Driver* driver_;
  CUmodule module_;
  CUfunction entry_;
};

/// One GPU of this process: its primary context, our device code in it, and its properties.
///
/// Thread rule: one thread. Ownership: the primary context is shared with the code under
/// measurement and with frameworks, and is not destroyed at the end.
/// Errors: `unavailable` without a driver or device, or with a driver that is too old.
class Gpu {
 public:
  static Result<std::unique_ptr<Gpu>> open(int index);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  [[nodiscard]] const GpuFacts& facts() const { return facts_; }
  [[nodiscard]] const cudaDeviceProp& properties() const { return properties_; }
  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] CUcontext context() const { return context_; }

  /// Waits for all work on all streams. Returns the failure of the work under measurement, if any:
  /// errors of this runtime and of every other copy of it in the process (launch errors of a shared
  /// library linked with libcudart are visible only in that library's copy).
  [[nodiscard]] std::optional<std::string> finish();

  /// Our device functions; see kernels/cuda/measure.ptx.
  Status block_stream(cudaStream_t stream, void* words, std::uint64_t limit_ns) const;
  Status stamp(void* stamps) const;
  Status read(const DeviceMemory& memory, std::uint32_t repeats) const;
  /// Reads a byte of each page on every multiprocessor. Launches a kernel even for empty memory.
  Status touch(std::span<const std::byte> memory) const;
  /// `entries`: in pinned host memory, see SmallCopies.
  Status small_copies(void* entries, std::uint32_t count, bool write) const;
  /// Bytes that `read` reads: the size of `memory`, rounded down to a multiple of
  /// `read_step_bytes`, times `repeats`.
  [[nodiscard]] double bytes_read(const DeviceMemory& memory, std::uint32_t repeats) const;
  [[nodiscard]] std::size_t read_step_bytes() const;

  /// Loads further device code, given as PTX with one entry. Errors: `unavailable` when the driver
  /// rejects it.
  Result<DeviceCode> assemble(const std::string& ptx, const char* entry) const;
  /// Launches `code` on the legacy stream.
  Status launch(const DeviceCode& code, unsigned blocks, unsigned threads,
                std::span<void*> arguments) const;

 private:
  Gpu() = default;
  Status load_code();
  Status launch(CUfunction function, unsigned blocks, unsigned threads, cudaStream_t stream,
                std::span<void*> arguments) const;
  [[nodiscard]] unsigned blocks() const;

  GpuFacts facts_;
  cudaDeviceProp properties_{};
  Driver driver_;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction block_stream_ = nullptr, stamp_ = nullptr, read_ = nullptr, touch_ = nullptr,
             small_copies_ = nullptr;
  DeviceMemory sink_;
};

}  // namespace ratchet::measure
