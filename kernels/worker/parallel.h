#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace ratchet::worker {

inline constexpr std::int64_t kLeastPart = 1 << 15;  ///< elements; less does not pay for a thread

/// Runs `body(first, last)` over [0, count) on all cores, in parts of at least `least` elements,
/// and returns when all are done. `body` is called from several threads concurrently and must not
/// throw.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t least, const Body& body) {
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const std::int64_t parts = std::clamp<std::int64_t>(count / least, 1, cores);
  const auto edge = [&](std::int64_t part) { return count * part / parts; };
  std::vector<std::jthread> threads;
  for (std::int64_t part = 1; part < parts; ++part)
    threads.emplace_back([&body, first = edge(part), last = edge(part + 1)] { body(first, last); });
  body(0, edge(1));
}

}  // namespace ratchet::worker
