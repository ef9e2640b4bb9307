// Checksum (CRC-32) of each chunk of a compressed stream.
// dims: bytes=33554432 chunks=131072
// tensor: stream uint8 bytes in
// tensor: sums int32 chunks out
// without CONSTANT_CACHE: the table is copied to shared memory
// without STRIDED_ACCESS, other answers: the chunks are interleaved, 16 bytes of each in turn
struct Table {
  unsigned of[256];
  constexpr Table() : of() {
    for (unsigned i = 0; i < 256; ++i) {
      unsigned c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
      of[i] = c;
    }
  }
};
__constant__ constexpr Table kTable;

__global__ void __launch_bounds__(256)
    checksums(const uint4* __restrict__ stream, int* __restrict__ sums, int pieces, int chunks) {
#ifdef WITHOUT_CONSTANT_CACHE
  __shared__ unsigned table[256];
  table[threadIdx.x] = kTable.of[threadIdx.x];
  __syncthreads();
#else
  const unsigned* table = kTable.of;
#endif
  const int chunk = blockIdx.x * 256 + threadIdx.x;
  if (chunk >= chunks) return;
  unsigned crc = ~0u;
#pragma unroll 4
  for (int piece = 0; piece < pieces; ++piece) {
#ifdef WITHOUT_STRIDED_ACCESS
    const uint4 four = stream[piece * chunks + chunk];
#else
    const uint4 four = stream[chunk * pieces + piece];
#endif
    const unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      crc ^= words[w];
#pragma unroll
      for (int byte = 0; byte < 4; ++byte) crc = table[crc & 255] ^ crc >> 8;
    }
  }
  sums[chunk] = ~crc;
}

extern "C" void solve(const unsigned char* stream, int* sums, int bytes, int chunks) {
  checksums<<<(chunks + 255) / 256, 256>>>(reinterpret_cast<const uint4*>(stream), sums,
                                           bytes / chunks / 16, chunks);
}
