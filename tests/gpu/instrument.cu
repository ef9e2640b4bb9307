// Times the calls of instrument_kernels.cu by plain events, with the sequence that the product's
// timer has: flush L2 by a write and a read, block the stream, start event, call, stop event,
// release. With `traced` CUPTI records the kernels meanwhile, as the product lets it. Shares no
// code with the product.
//
//   instrument LIBRARY SAMPLES plain|traced ENTRY...
//
// Prints a line of JSON for each entry. Times in ns: of the events less those around nothing, and,
// traced, from the first kernel's start to the last one's end.

#include <cuda_runtime.h>
#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr long kElements = 4096L * 4096;
constexpr int kRotation = 3;
constexpr int kWarmup = 10;

using Entry = void (*)(const float*, float*, long, cudaStream_t);

void need(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__global__ void wait_for_host(volatile unsigned* released) {
  while (!*released) {
  }
}

__global__ void read_all(const float4* from, float* to, long n) {
  float sum = 0;
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<long>(gridDim.x) * blockDim.x)
    sum += from[i].x + from[i].w;
  if (sum == 12345.678f) *to = sum;
}

struct Kernel {
  std::uint64_t start, end;
  bool ours;  // of this program
};
std::vector<Kernel> kernels;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *size = 1 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
    const bool ours = std::strstr(kernel->name, "wait_for_host") != nullptr ||
                      std::strstr(kernel->name, "read_all") != nullptr;
    kernels.push_back({kernel->start, kernel->end, ours});
  }
  std::free(buffer);
}

class Bench {
 public:
  Bench() {
    cudaDeviceProp properties;
    need(cudaGetDeviceProperties(&properties, 0), "device");
    cache_ = 2 * static_cast<long>(properties.l2CacheSize);
    need(cudaMalloc(&written_, cache_), "memory");
    need(cudaMalloc(&read_, cache_), "memory");
    need(cudaMemset(read_, 1, cache_), "memory");
    need(cudaMalloc(&sink_, sizeof(float)), "memory");
    need(cudaHostAlloc(&released_, sizeof(unsigned), cudaHostAllocMapped), "memory");
    need(cudaEventCreate(&start_), "event");
    need(cudaEventCreate(&stop_), "event");
    for (auto& pair : pairs_) {
      need(cudaMalloc(&pair[0], sizeof(float) * kElements), "memory");
      need(cudaMalloc(&pair[1], sizeof(float) * kElements), "memory");
      need(cudaMemset(pair[0], 0, sizeof(float) * kElements), "memory");
    }
  }

  /// Calls `entry` once with each pair of buffers while nothing waits for the host: its kernels are
  /// loaded, and its graphs made, at the first call, and that waits for all that the device has.
  void load(Entry entry) {
    for (auto& pair : pairs_) entry(pair[0], pair[1], kElements, nullptr);
    read_all<<<1, 1>>>(reinterpret_cast<const float4*>(read_), sink_, 1);
    *const_cast<volatile unsigned*>(released_) = 1;
    wait_for_host<<<1, 1>>>(released_);
    need(cudaDeviceSynchronize(), "first call");
  }

  /// Event time of one cold call of `entry`, or of nothing.
  double shoot(Entry entry, int turn) {
    need(cudaMemsetAsync(written_, turn & 255, cache_, nullptr), "flush");
    read_all<<<1024, 256>>>(reinterpret_cast<const float4*>(read_), sink_, cache_ / 16);
    *const_cast<volatile unsigned*>(released_) = 0;
    wait_for_host<<<1, 1>>>(released_);
    cudaEventRecord(start_, nullptr);
    if (entry) entry(pairs_[turn % kRotation][0], pairs_[turn % kRotation][1], kElements, nullptr);
    cudaEventRecord(stop_, nullptr);
    *const_cast<volatile unsigned*>(released_) = 1;
    need(cudaDeviceSynchronize(), "call");
    float milliseconds = 0;
    need(cudaEventElapsedTime(&milliseconds, start_, stop_), "events");
    return 1e6 * milliseconds;
  }

 private:
  long cache_ = 0;
  char *written_ = nullptr, *read_ = nullptr;
  float* sink_ = nullptr;
  unsigned* released_ = nullptr;
  cudaEvent_t start_{}, stop_{};
  float* pairs_[kRotation][2];
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// From the first start to the last end of the call's kernels; their number in `count`.
double span(std::size_t& count) {
  cuptiActivityFlushAll(1);
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  count = 0;
  for (const auto& kernel : kernels) {
    if (kernel.ours) continue;
    first = std::min(first, kernel.start);
    last = std::max(last, kernel.end);
    ++count;
  }
  kernels.clear();
  return count ? static_cast<double>(last - first) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  const int samples = std::atoi(argv[2]);
  const bool traced = std::strcmp(argv[3], "traced") == 0;
  if (traced && (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
                 cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS))
    return std::fprintf(stderr, "CUPTI does not trace\n"), 1;
  Bench bench;
  for (int i = 4; i < argc; ++i) {
    const auto entry = reinterpret_cast<Entry>(dlsym(library, argv[i]));
    if (!entry) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    std::vector<double> calls, nothing, spans;
    std::size_t count = 0;
    bench.load(entry);
    for (int turn = 0; turn < kWarmup; ++turn) bench.shoot(entry, turn);
    if (traced) span(count);
    for (int turn = 0; turn < samples; ++turn) {
      calls.push_back(bench.shoot(entry, turn));
      if (traced) spans.push_back(span(count));
      nothing.push_back(bench.shoot(nullptr, turn));
      std::size_t none = 0;
      if (traced) span(none);
    }
    std::printf(
        "{\"entry\": \"%s\", \"events_ns\": %.1f, \"nothing_ns\": %.1f, \"span_ns\": %.1f, "
        "\"kernels\": %zu}\n",
        argv[i], median(calls) - median(nothing), median(nothing), median(spans), count);
  }
  return 0;
}
