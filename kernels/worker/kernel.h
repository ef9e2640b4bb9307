#pragma once

// The interface between the job loop and the kernel's language: a shared library in the worker
// programs, a Python module where the loop is embedded in an interpreter.

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
  /// Stores the values that the call returned instead of writing them; outside every timed window.
  /// May be empty.
  std::function<void()> settle;
};

/// The code under test. Loaded once, then bound to any number of arenas.
///
/// Thread rule: one thread. Bound calls must not outlive the kernel or their arena.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Runs the kernel's top-level code: static constructors, or a module's body. Closes `file`.
  /// Callers report an error as the finding `load_error`.
  virtual Status load(Fd file, const wire::Load& plan) = 0;

  /// Buffers are at `base` + offset; a stream parameter receives `stream`. Errors: as for `load`.
  virtual Result<BoundCall> bind(const wire::ArenaLayout& layout,
                                 const std::vector<wire::Argument>& arguments, std::byte* base,
                                 void* stream) = 0;

  /// The reference's function that makes inputs instead of the entry; see wire::MadeInputs. Errors:
  /// as for `load`.
  virtual Result<BoundCall> bind_inputs(const wire::ArenaLayout& layout,
                                        const std::vector<wire::Argument>& arguments,
                                        const wire::MadeInputs& inputs, std::byte* base) {
    (void)layout, (void)arguments, (void)inputs, (void)base;
    return unavailable("only a Python reference makes inputs");
  }

  /// The entry with every floating-point buffer, and what it creates without a type of its own, in
  /// float64. Errors: as for `load`.
  virtual Result<BoundCall> bind_wide(const wire::ArenaLayout& layout,
                                      const std::vector<wire::Argument>& arguments,
                                      std::byte* base) {
    (void)layout, (void)arguments, (void)base;
    return unavailable("only a Python reference answers in float64");
  }

  /// The entry's address; null if the kernel has none.
  [[nodiscard]] virtual void* symbol() const { return nullptr; }

  /// The failure of calls in the kernel's own language since the previous query, if any.
  virtual std::optional<Fault> failure() { return std::nullopt; }
};

}  // namespace ratchet::worker
