#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ratchet::worker {

/// Evicts the given memory from all caches, so that the next call starts cold.
///
/// Two steps: writing twice the size of the last-level cache (at most 128 MiB, which bounds the
/// cost on machines with very large caches) evicts code, page tables and other data; then, on x86,
/// every line of the given memory is flushed by instruction, which also reaches the private caches
/// of other cores. On other processors only the first step is done.
class CacheFlush {
 public:
  void operator()(std::span<std::byte> data);

 private:
  std::vector<std::byte> scratch_;  // allocated by the first flush; hot runs need none
  unsigned char round_ = 0;
};

}  // namespace ratchet::worker
