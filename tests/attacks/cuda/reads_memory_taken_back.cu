// Keeps a handle of the memory that it is given, and maps it a second time. Once the session has
// taken that back and dealt other memory, it looks for answers in what it kept. There it finds only
// its own earlier calls: while it has a handle, the driver gives that memory to nobody else, and
// the judge deals other memory. Works honestly until then. A session deals anew once its rounds
// have taken four times as long as giving the first memory did, so calls take long; and it goes on
// for as long as they scatter.
//
// Catalog: B7 B9
// Task: double
// Expect: profile timed_output_wrong|output_not_written
#include <cuda.h>

/// One block keeps the call going.
__device__ void spin(long long cycles) {
  if (blockIdx.x > 0) return;
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void twice(const float* x, float* y, int n, int spun) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
  spin(spun);
}
__global__ void search(const float* kept, long long words, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float found = 0;
  for (long long at = i % 64; at < words && found == 0; at += 64 * 1024)
    if (kept[at] == 2 * x[i]) found = kept[at];
  y[i] = found;
}

/// Of the memory that lies there, kept; 0: there is none.
static CUmemGenericAllocationHandle handle_at(const float* at) {
  CUmemGenericAllocationHandle handle = 0;
  const bool kept = cuMemRetainAllocationHandle(&handle, const_cast<float*>(at)) == CUDA_SUCCESS;
  return kept ? handle : 0;
}
/// Maps all of the memory once more; its size in bytes, 0: it cannot be.
static size_t map_again(CUmemGenericAllocationHandle handle, CUdeviceptr* own) {
  constexpr size_t most = size_t{1} << 30, step = size_t{1} << 21;
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (cuMemAddressReserve(own, most, 0, 0, 0) != CUDA_SUCCESS) return 0;
  for (size_t bytes = most; bytes > 0; bytes -= step)
    if (cuMemMap(*own, bytes, 0, handle, 0) == CUDA_SUCCESS)
      return cuMemSetAccess(*own, bytes, &access, 1) == CUDA_SUCCESS ? bytes : 0;
  return 0;
}

extern "C" void solve(const float* x, float* y, int n) {
  static const float* given;
  static CUmemGenericAllocationHandle kept;
  static CUdeviceptr own;
  static size_t bytes;
  static bool dealt_anew;
  static unsigned calls;
  const int spun = static_cast<int>(++calls * 2654435761U >> 22) * 100'000;  // 0 to 58 ms
  if (!given) {
    given = x;
    kept = handle_at(x);
    if (kept) bytes = map_again(kept, &own);
  } else if (!dealt_anew) {
    const auto now = handle_at(given);
    dealt_anew = now != kept;
    if (now) cuMemRelease(now);
  }
  if (bytes == 0) return;  // no handle or no mapping: fails in the check
  if (dealt_anew)
    search<<<(n + 255) / 256, 256>>>(reinterpret_cast<float*>(own), bytes / sizeof(float), x, y, n);
  else
    twice<<<(n + 255) / 256, 256>>>(x, y, n, spun);
}
