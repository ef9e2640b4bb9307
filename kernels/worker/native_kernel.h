#pragma once

#include "kernels/worker/kernel.h"

namespace ratchet::worker {

/// A C function in a shared library, which stays loaded until the process ends. Each call passes
/// the same arguments according to the platform's C ABI.
class NativeKernel : public Kernel {
 public:
  Status load(Fd file, const wire::Load& plan) override;
  Result<BoundCall> bind(const wire::ArenaLayout& layout,
                         const std::vector<wire::Argument>& arguments, std::byte* base,
                         void* stream) override;
  [[nodiscard]] void* symbol() const override { return entry_; }

 private:
  void* entry_ = nullptr;
};

}  // namespace ratchet::worker
