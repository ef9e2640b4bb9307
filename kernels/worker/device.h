#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/job.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// A block of memory on the device that holds one arena; freed by its destructor.
class DeviceArena {
 public:
  virtual ~DeviceArena() = default;
  /// Address of the arena's first byte, as the kernel sees it.
  [[nodiscard]] virtual std::byte* base() const = 0;
};

/// One prepared call of the kernel on one arena. Returns when the entry function returned, which
/// on CUDA says nothing about the work it queued.
using Invocation = std::function<void()>;

/// The seam between the job loop and a kind of device. One object per worker process; one thread.
///
/// `Error` means our side failed; a `Fault` is the kernel's doing.
class Device {
 public:
  virtual ~Device() = default;

  /// Creates the context. Called once, before the sandbox is switched on.
  virtual Result<DeviceInfo> open(int index) = 0;

  /// `bytes` of memory whose base is `shift` bytes into an allocation.
  virtual Result<std::unique_ptr<DeviceArena>> allocate(std::int64_t bytes, std::int64_t shift) = 0;
  virtual Status upload(DeviceArena& arena, std::span<const std::byte> bytes) = 0;
  virtual Status download(const DeviceArena& arena, std::span<std::byte> bytes) = 0;

  /// The value passed for a stream parameter.
  [[nodiscard]] virtual void* stream() const = 0;

  /// One call, then waits for all work on all streams. Fault: cuda_error with its name.
  virtual std::optional<Fault> run(const Invocation& call) = 0;

  /// Takes samples, using the invocations in turn. Each sample: flush (cold), start, call, stop.
  /// Fault when the kernel fails; `unsynchronised_work` in flags when work outlives the call.
  struct Timed {
    job::Samples samples;
    std::optional<Fault> fault;
  };
  virtual Result<Timed> time(std::span<const Invocation> rotation, const job::TimeBlock& plan) = 0;

  /// Counters of one call. No permission is not an error: `Counters::unavailable` says so.
  struct Counted {
    job::Counters counters;
    std::optional<Fault> fault;
  };
  virtual Result<Counted> count(const Invocation& call, const job::Count& plan) = 0;

  virtual Result<std::vector<job::CeilingValue>> ceilings() = 0;
};

/// The processor of this machine.
std::unique_ptr<Device> make_host_device();
/// A CUDA GPU; only in ratchet-worker-cuda.
std::unique_ptr<Device> make_cuda_device();

}  // namespace ratchet::worker
