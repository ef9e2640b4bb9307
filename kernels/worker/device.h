#pragma once

// The seam between the job loop and a kind of device. `ratchet-worker` links host/, and
// `ratchet-worker-cuda` links cuda/; both link the same loop, sandbox and main.
//
// Thread rule: one object per worker process, used by one thread. Ownership: arenas are freed by
// their destructors, before the device. Units are in the names. `Error` means our side failed; a
// `Fault` is the kernel's doing.

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

/// A block of memory on the device that holds one arena; freed by its destructor.
class DeviceArena {
 public:
  virtual ~DeviceArena() = default;
  /// Address of the arena's first byte, as the kernel sees it.
  [[nodiscard]] virtual std::byte* base() const = 0;
};

/// Judges where the data is, without moving arenas through the host: makes a trial in memory that
/// it shares with one other process each, and compares a copy of what came of it. Its own memory
/// holds the trial as it was sent; expected values are in memory that only it and the reference
/// share, and each candidate has memory of its own.
class DeviceJudge {
 public:
  static constexpr std::int64_t kShiftRoom =
      std::int64_t{64} * 1024;  ///< beyond any shift of an arena

  virtual ~DeviceJudge() = default;

  /// New shared memories: the reference's, then the candidates'.
  virtual Result<std::vector<Fd>> share(const wire::Share& plan) = 0;
  virtual Status generate(const wire::GenerateOnDevice& plan) = 0;

  struct Compared {
    wire::Comparison comparison;
    std::optional<bool> same_bits;  ///< after a GenerateOnDevice `again`
  };
  virtual Result<Compared> compare(const wire::CompareOnDevice& plan) = 0;

  virtual Result<wire::Answered> describe() = 0;
  /// Empty: the control has nothing to offer for one of the outputs.
  virtual Result<std::optional<wire::Comparison>> forge(const wire::ForgeOnDevice& plan) = 0;
};

/// One prepared call of the kernel on one arena. Returns when the entry function returned, which
/// on CUDA says nothing about the work it queued.
using Invocation = std::function<void()>;

/// One arena's turn in a timed rotation. Everything but `call` stands outside the timed window.
struct Turn {
  Invocation call;
  /// Resets what the call changes (inout buffers) and poisons a few output elements. Before the
  /// flush.
  std::function<void()> before;
  /// True when the poison is gone, so that the call's work was there when its sample ended.
  std::function<bool()> after;
  /// The device's memory that the call works on.
  std::span<std::byte> memory;
};

class Device {
 public:
  virtual ~Device() = default;

  /// Says that this process will count, not time: time for what counting needs and `open` does not.
  virtual void prepare_to_count() {}

  /// Creates the context. Called once, before the sandbox is switched on.
  virtual Result<DeviceInfo> open(int index) = 0;
  /// How many of its kind this process sees.
  [[nodiscard]] virtual int count() const { return 1; }

  /// `bytes` of memory whose base is `shift` bytes into an allocation.
  virtual Result<std::unique_ptr<DeviceArena>> allocate(std::int64_t bytes, std::int64_t shift) = 0;
  /// Copies to the arena, from `offset` bytes after its base; complete on return.
  virtual Status upload(DeviceArena& arena, std::int64_t offset,
                        std::span<const std::byte> bytes) = 0;
  virtual Status download(const DeviceArena& arena, std::int64_t offset,
                          std::span<std::byte> bytes) = 0;
  /// Copies `bytes` bytes between arenas of the device, from and to the same offset; before
  /// anything that is queued later.
  virtual Status copy(DeviceArena& to, const DeviceArena& from, std::int64_t offset,
                      std::int64_t bytes) = 0;

  /// A few bytes of an arena: 1, 2, 4 or 8 at an offset that is a multiple of their number.
  struct Patch {
    std::int64_t offset = 0;           ///< from the arena's base
    std::array<std::byte, 8> value{};  ///< the first `bytes` of it
    std::int64_t bytes = 0;
  };
  /// Reads all of them; complete on return.
  virtual Status peek(const DeviceArena& arena, std::span<Patch> patches) = 0;
  /// Writes all of them; before anything that is queued later.
  virtual Status patch(DeviceArena& arena, std::span<const Patch> patches) = 0;

  /// Another kind of call will be timed: what was found out about the last kind is forgotten.
  virtual void forget_calls() {}

  /// The value passed for a stream parameter.
  [[nodiscard]] virtual void* stream() const = 0;

  /// One call, then waits for all work on all streams. Fault: cuda_error with its name.
  virtual std::optional<Fault> run(const Invocation& call) = 0;

  /// Takes samples, using the turns in order and again from the first. Each sample: before, flush
  /// (cold), start, call, stop, wait, after. Flags: `unsynchronised_work` when `after` was false
  /// or work outlived the call.
  struct Timed {
    wire::Samples samples;
    std::optional<Fault> fault;
  };
  virtual Result<Timed> time(std::span<const Turn> rotation, const wire::TimeBlock& plan) = 0;

  /// Counters of one call. No permission is not an error: `Counters::unavailable` says so.
  struct Counted {
    wire::Counters counters;
    std::optional<Fault> fault;
  };
  virtual Result<Counted> count(const Turn& turn, const wire::Count& plan) = 0;

  virtual Result<std::vector<wire::CeilingValue>> ceilings() = 0;

  /// A judge on this device, from the entry of its own library. Errors: `unavailable` on devices
  /// that have none.
  virtual Result<std::unique_ptr<DeviceJudge>> judge(void* entry) {
    (void)entry;
    return Error{ErrorCode::unavailable, "this device has no judge of its own", ""};
  }

  /// Memory that a DeviceJudge shares, for arenas of `bytes` in all at any shift.
  virtual Result<std::unique_ptr<DeviceArena>> attach(int descriptor, std::int64_t bytes) {
    (void)descriptor;
    (void)bytes;
    return Error{ErrorCode::unavailable, "this device shares no memory", ""};
  }
};

/// The device that is linked into this program: host/ or cuda/ defines it.
std::unique_ptr<Device> make_device();

}  // namespace ratchet::worker
