// Keeps handles of the memory that it is given, and maps it a second time. Once the session has
// taken that back and dealt other memory, it looks for answers in what it kept. Works honestly until
// then, for a time that scatters, so that the session goes on. In what it kept are only its own
// earlier calls: while it has a handle, the driver gives that memory to nobody else; the judge deals
// other memory, and blanks it.
//
// Catalog: B7 B9
// Task: double
// Expect: profile timed_output_wrong|output_not_written
#include <cuda.h>

#include <vector>

struct Kept {
  const float* given;  // where it was
  CUmemGenericAllocationHandle handle;
  const float* own;  // where it is mapped once more
  long long words;
};

__device__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void twice(const float* x, float* y, int n, int spun) {
  spin(spun);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
__global__ void search(const float* kept, long long words, const float* x, float* y, int n,
                       int spun) {
  spin(spun);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float found = 0;
  for (long long at = i % 64; at < words && found == 0; at += 64 * 1024)
    if (kept[at] == 2 * x[i]) found = kept[at];
  y[i] = found;
}

static bool retain(const float* at, CUmemGenericAllocationHandle* handle) {
  return cuMemRetainAllocationHandle(handle, const_cast<float*>(at)) == CUDA_SUCCESS;
}
static bool map_again(Kept& kept) {
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  for (size_t bytes = size_t{1} << 29; bytes >= size_t{1} << 21; bytes /= 2) {
    CUdeviceptr own = 0;
    if (cuMemAddressReserve(&own, bytes, 0, 0, 0) != CUDA_SUCCESS) continue;
    if (cuMemMap(own, bytes, 0, kept.handle, 0) == CUDA_SUCCESS) {
      kept.own = reinterpret_cast<const float*>(own);
      kept.words = static_cast<long long>(bytes / sizeof(float));
      return cuMemSetAccess(own, bytes, &access, 1) == CUDA_SUCCESS;
    }
    cuMemAddressFree(own, bytes);
  }
  return false;
}
/// Whether what it kept is no longer what lies there.
static bool taken_back(const Kept& kept) {
  CUmemGenericAllocationHandle now = 0;
  if (!retain(kept.given, &now)) return true;
  cuMemRelease(now);
  return now != kept.handle;
}

extern "C" void solve(const float* x, float* y, int n) {
  static std::vector<Kept> all;
  static bool dealt_anew;
  static unsigned calls;
  const int spun = static_cast<int>(++calls * 2654435761U >> 22) * 2000;
  Kept kept{x, 0, nullptr, 0};
  for (const auto& one : all) dealt_anew = dealt_anew || taken_back(one);
  if (!dealt_anew && all.empty() && retain(x, &kept.handle) && map_again(kept)) all.push_back(kept);
  if (dealt_anew)
    search<<<(n + 255) / 256, 256>>>(all.front().own, all.front().words, x, y, n, spun);
  else
    twice<<<(n + 255) / 256, 256>>>(x, y, n, spun);
}
