// y = xᵀ for a row-major float matrix: CuTe's layouts, tiles and copies, through shared memory.
#include <cute/tensor.hpp>

// A named namespace, because nvcc would confuse an unnamed one with CuTe's own.
namespace tiles {

using namespace cute;

using Tile = Shape<_32, _32>;
using Threads = Layout<Shape<_8, _32>, Stride<_32, _1>>;  // a warp along a row of the tile

// One column more than the tile, so that the threads of a warp access different banks.
using Staged = Layout<Tile, Stride<Int<33>, _1>>;

template <class Source, class Target>
__global__ void transpose(Source x, Target y) {
  __shared__ float memory[cosize_v<Staged>];
  auto staged = make_tensor(make_smem_ptr(memory), Staged{});
  auto turned = make_tensor(make_smem_ptr(memory), Layout<Tile, Stride<_1, Int<33>>>{});
  auto from = local_tile(x, Tile{}, make_coord(blockIdx.y, blockIdx.x));
  auto to = local_tile(y, Tile{}, make_coord(blockIdx.x, blockIdx.y));
  copy(local_partition(from, Threads{}, threadIdx.x),
       local_partition(staged, Threads{}, threadIdx.x));
  __syncthreads();
  copy(local_partition(turned, Threads{}, threadIdx.x),
       local_partition(to, Threads{}, threadIdx.x));
}

}  // namespace tiles

// Rows and columns are multiples of 32.
extern "C" void solve(const float* x, float* y, int rows, int columns, cudaStream_t stream) {
  using namespace tiles;
  auto source = make_tensor(make_gmem_ptr(x), make_shape(rows, columns), GenRowMajor{});
  auto target = make_tensor(make_gmem_ptr(y), make_shape(columns, rows), GenRowMajor{});
  constexpr int threads = size(Threads{});
  transpose<<<dim3(columns / 32, rows / 32), threads, 0, stream>>>(source, target);
}
