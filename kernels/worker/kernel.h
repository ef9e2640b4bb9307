#pragma once

// The seam between the job loop and what a kernel is written in: a shared library in the worker
// programs, a Python module where the loop is hosted by an interpreter.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "kernels/protocol/messages.h"
#include "kernels/worker/device.h"
#include "server/core/fd.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// The kernel bound to one arena.
struct BoundCall {
  Invocation call;
  /// Stores what the call returned instead of writing; outside every timed window. May be empty.
  std::function<void()> settle;
};

/// The code under test. Loaded once, then bound to any number of arenas.
///
/// Thread rule: one thread. Bound calls must not outlive the kernel or their arena.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Runs the kernel's top-level code: static constructors, or a module's body. Closes `file`.
  /// Error: a finding (`load_error`) to the caller.
  virtual Status load(Fd file, const wire::Load& plan) = 0;

  /// Buffers are at `base` + offset; a stream parameter gets `stream`. Errors: as `load`.
  virtual Result<BoundCall> bind(const wire::ArenaLayout& layout,
                                 const std::vector<wire::Argument>& arguments, std::byte* base,
                                 void* stream) = 0;

  /// The entry's address, where the kernel has one.
  [[nodiscard]] virtual void* symbol() const { return nullptr; }

  /// How calls have failed in the kernel's own language since this was last asked.
  virtual std::optional<Fault> failure() { return std::nullopt; }
};

}  // namespace ratchet::worker
