#pragma once

// The interface between the job loop and a kind of device. `ratchet-worker` links host/,
// `ratchet-worker-cuda` links cuda/; both link the same loop, sandbox and main.
//
// Thread rule: one object per worker process, used by one thread. Ownership: arenas are freed by
// their destructors, before the device. Units are in the names. An `Error` is a failure of ratchet
// or its environment, a `Fault` is caused by the kernel.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/fd.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// Device memory that holds one arena; freed by the destructor.
class DeviceArena {
 public:
  virtual ~DeviceArena() = default;
  /// Device address of the arena's first byte.
  [[nodiscard]] virtual std::byte* base() const = 0;
};

/// Generates and compares arenas on the device, without copying them through the host. It shares
/// one memory with the reference's process and one with each candidate's, and compares a copy of
/// what a candidate wrote. The trial as sent is in memory of its own; expected values are only in
/// the memory shared with the reference.
class DeviceJudge {
 public:
  static constexpr std::int64_t kShiftRoom =
      std::int64_t{64} * 1024;  ///< more than any shift of an arena

  virtual ~DeviceJudge() = default;

  /// Allocates the shared memories and returns their descriptors: the reference's, then those of
  /// each candidate, equally many.
  virtual Result<std::vector<Fd>> share(const wire::Share& plan) = 0;
  /// Bytes of the device's memory that no process has; 0 if nobody says.
  [[nodiscard]] virtual std::int64_t free_bytes() const = 0;
  /// After `adopt`: whether the given inputs are those of the last unchanged trial described.
  virtual Result<std::optional<bool>> generate(const wire::GenerateOnDevice& plan) = 0;

  struct Compared {
    wire::Comparison comparison;
    std::optional<bool> same_bits;  ///< after a GenerateOnDevice `again`
  };
  virtual Result<Compared> compare(const wire::CompareOnDevice& plan) = 0;

  /// Room for more of the judge's own.
  struct Roomy {
    bool fits = true;                              ///< false: free memory does not suffice
    std::vector<Fd> memory{};                      ///< of `widen`, if it is new
    std::optional<wire::Comparison> comparison{};  ///< of `terms`
  };
  virtual Result<Roomy> widen(const wire::WidenOnDevice& plan) = 0;
  virtual Result<Roomy> terms(const wire::TermsOnDevice& plan) = 0;

  virtual Result<wire::Answered> describe() = 0;
  /// Empty when the control is not applicable to one of the outputs.
  virtual Result<std::optional<wire::Comparison>> forge(const wire::ForgeOnDevice& plan) = 0;
};

/// One prepared call of the kernel on one arena. Returns when the entry function returns; on CUDA
/// the queued work may still be running.
using Invocation = std::function<void()>;

/// One arena's turn in a timed rotation. Everything but `call` runs outside the timed window.
struct Turn {
  Invocation call;
  /// Resets what the call changes (inout buffers) and poisons a few output elements; runs before
  /// the flush.
  std::function<void()> before;
  /// Whether the poison is gone, that is, the call's outputs were written when its sample ended.
  std::function<bool()> after;
  /// The device memory that the call works on.
  std::span<std::byte> memory;
};

class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual DeviceKind kind() const = 0;

  /// Announces that this process will count rather than time, so that the device can prepare for
  /// counting while `open` runs.
  virtual void prepare_to_count() {}

  /// Creates the context. Called once, before the process enters the sandbox.
  virtual Result<DeviceInfo> open(int index) = 0;
  /// Number of devices of this kind visible to the process.
  [[nodiscard]] virtual int count() const { return 1; }

  /// Allocates `bytes` of memory whose base is `shift` bytes into the allocation.
  virtual Result<std::unique_ptr<DeviceArena>> allocate(std::int64_t bytes, std::int64_t shift) = 0;
  /// Copies to the arena, starting `offset` bytes after its base; complete on return.
  virtual Status upload(DeviceArena& arena, std::int64_t offset,
                        std::span<const std::byte> bytes) = 0;
  virtual Status download(const DeviceArena& arena, std::int64_t offset,
                          std::span<std::byte> bytes) = 0;
  /// Copies `bytes` bytes between two arenas, from and to the same offset; ordered before work
  /// queued later.
  virtual Status copy(DeviceArena& to, const DeviceArena& from, std::int64_t offset,
                      std::int64_t bytes) = 0;

  /// 1, 2, 4 or 8 bytes of an arena at a naturally aligned offset.
  struct Patch {
    std::int64_t offset = 0;           ///< from the arena's base
    std::array<std::byte, 8> value{};  ///< only the first `bytes` bytes count
    std::int64_t bytes = 0;
  };
  /// Reads all patches; complete on return.
  virtual Status peek(const DeviceArena& arena, std::span<Patch> patches) = 0;
  /// Writes all patches; ordered before work queued later.
  virtual Status patch(DeviceArena& arena, std::span<const Patch> patches) = 0;

  /// Discards what the device learned about calls; a different kind of call will be timed next.
  virtual void forget_calls() {}

  /// The value passed for a stream parameter.
  [[nodiscard]] virtual void* stream() const = 0;

  /// Makes one call and waits for all work on all streams. Fault on CUDA: `cuda_error`, with the
  /// error's name.
  virtual std::optional<Fault> run(const Invocation& call) = 0;

  /// Takes samples, cycling through the turns in order. Each sample: before, flush (cold), start,
  /// call, stop, wait, after. Flags: `unsynchronised_work` when `after` returned false or work
  /// outlived the call.
  struct Timed {
    wire::Samples samples;
    std::optional<Fault> fault;
  };
  virtual Result<Timed> time(std::span<const Turn> rotation, const wire::TimeBlock& plan) = 0;

  /// Counters of one call. Missing permission is not an error; see `Counters::unavailable`.
  struct Counted {
    wire::Counters counters;
    std::optional<Fault> fault;
  };
  virtual Result<Counted> count(std::span<const Turn> rotation, const wire::Count& plan) = 0;

  virtual Result<std::vector<wire::CeilingValue>> ceilings() = 0;

  /// The judge on this device, which uses the entry of the judge's library. Errors: `unavailable`
  /// on devices without one.
  virtual Result<std::unique_ptr<DeviceJudge>> judge(void* entry) {
    (void)entry;
    return unavailable("this device cannot judge on its own memory");
  }

  /// Maps memory that a DeviceJudge shares. `bytes`: total size of its arenas, without shifts.
  virtual Result<std::unique_ptr<DeviceArena>> attach(std::span<const Fd> descriptors,
                                                      std::int64_t bytes) {
    (void)descriptors;
    (void)bytes;
    return unavailable("this device cannot share memory");
  }
};

/// The device linked into this program; defined in host/ or cuda/.
std::unique_ptr<Device> make_device();

}  // namespace ratchet::worker
