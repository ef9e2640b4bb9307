#include "kernels/worker/host/cache_flush.h"

#include <algorithm>
#include <cstdint>

#include "kernels/worker/host/host_info.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace ratchet::worker {
namespace {

constexpr std::int64_t kMostScratch = std::int64_t{128} << 20;
constexpr std::int64_t kUnknownCache = std::int64_t{32} << 20;
constexpr std::size_t kLine = 64;

std::size_t scratch_bytes() {
  const std::int64_t cache = last_level_cache_bytes();
  return static_cast<std::size_t>(std::min(2 * (cache ? cache : kUnknownCache), kMostScratch));
}

#if defined(__x86_64__)
bool has_clflushopt() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 23U & 1U);
}

void flush_lines(std::span<std::byte> data) {
  static const bool fast_flush = has_clflushopt();
  for (std::size_t at = 0; at < data.size(); at += kLine) {
    if (fast_flush)
      asm volatile("clflushopt %0" : "+m"(data[at]));
    else
      _mm_clflush(&data[at]);
  }
  _mm_mfence();
}
#else
void flush_lines(std::span<std::byte>) {}
#endif

}  // namespace

void CacheFlush::operator()(std::span<std::byte> data) {
  if (scratch_.empty()) scratch_.resize(scratch_bytes());
  ++round_;
  for (std::size_t at = 0; at < scratch_.size(); at += kLine)
    static_cast<volatile std::byte&>(scratch_[at]) = std::byte{round_};
  flush_lines(data);
}

}  // namespace ratchet::worker
