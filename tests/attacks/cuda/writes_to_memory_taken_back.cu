// Keeps a handle of the memory that it is given, and maps it a second time. Once the session has
// taken that back and dealt other memory, it fills what it kept, and its output, with zeros: if its
// old memory were now the reference's or the judge's, both would be the same. Works honestly until
// then, for a time that scatters, so that the session goes on. What it kept is nobody else's: while
// it has a handle, the driver does not free that memory, and the judge deals other memory.
//
// Catalog: B9 C10
// Task: double
// Expect: profile timed_output_wrong|output_not_written
#include <cuda.h>

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
__global__ void clear(float* kept, long long words, float* y, int n, int spun) {
  spin(spun);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0;
  for (long long at = i; at < words; at += gridDim.x * blockDim.x) kept[at] = 0;
}

static CUmemGenericAllocationHandle handle_at(const float* at) {
  CUmemGenericAllocationHandle handle = 0;
  cuMemRetainAllocationHandle(&handle, const_cast<float*>(at));
  return handle;
}
/// Its size in bytes; 0: it cannot be mapped.
static size_t map_again(CUmemGenericAllocationHandle handle, CUdeviceptr* own) {
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  for (size_t bytes = size_t{1} << 29; bytes >= size_t{1} << 21; bytes /= 2) {
    if (cuMemAddressReserve(own, bytes, 0, 0, 0) != CUDA_SUCCESS) continue;
    if (cuMemMap(*own, bytes, 0, handle, 0) == CUDA_SUCCESS)
      return cuMemSetAccess(*own, bytes, &access, 1) == CUDA_SUCCESS ? bytes : 0;
    cuMemAddressFree(*own, bytes);
  }
  return 0;
}

extern "C" void solve(const float* x, float* y, int n) {
  static const float* given;
  static CUmemGenericAllocationHandle kept;
  static CUdeviceptr own;
  static size_t bytes;
  static bool dealt_anew;
  static unsigned calls;
  const int spun = static_cast<int>(++calls * 2654435761U >> 22) * 2000;
  if (bytes == 0) {
    given = x;
    kept = handle_at(x);
    if (kept) bytes = map_again(kept, &own);
  } else if (!dealt_anew) {
    const auto now = handle_at(given);
    dealt_anew = now != kept;
    if (now) cuMemRelease(now);
  }
  if (dealt_anew)
    clear<<<(n + 255) / 256, 256>>>(reinterpret_cast<float*>(own), bytes / sizeof(float), y, n,
                                    spun);
  else
    twice<<<(n + 255) / 256, 256>>>(x, y, n, spun);
}
