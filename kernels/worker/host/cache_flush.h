#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ratchet::worker {

/// Makes the next call find its data in memory, not in a cache.
///
/// Two steps: a write through twice the last-level cache (at most 128 MiB, so that machines with
/// very large caches stay usable) pushes out code, tables and whatever else; then, on x86, every
/// line of the given memory is flushed by instruction, which also reaches the private caches of
/// other cores that a write on this core does not touch. Elsewhere only the first step is done.
class CacheFlush {
 public:
  void operator()(std::span<std::byte> data);

 private:
  std::vector<std::byte> scratch_;  // allocated by the first flush: hot runs need none
  unsigned char round_ = 0;
};

}  // namespace ratchet::worker
