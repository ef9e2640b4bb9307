// The index arithmetic of the wiki's bf16 matrix product, driven as the hardware drives it: copies
// place chunks, ldmatrix gives lanes their pairs, mma adds products. Compared with the product
// itself.
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include "region.h"

int main() {
  std::vector<int> a(kTile * kDepth), b(kTile * kDepth), a_tile(kMatrix, -1), b_tile(kMatrix, -1);
  std::srand(1);
  for (auto* m : {&a, &b})
    for (auto& v : *m) v = std::rand() % 15 - 7;
  for (int i = 0; i < kTile * kChunks; ++i)
    for (int e = 0; e < 8; ++e) {
      const int row = i / kChunks, chunk = i % kChunks, from = row * kDepth + chunk * 8 + e;
      a_tile[place(row, chunk) + e] = a[from];
      b_tile[place(row, chunk) + e] = b[from];
    }
  // Eight addresses of one 8 x 8 matrix lie in eight 16-byte groups of the banks.
  for (int row = 0; row < kTile; row += 8)
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      std::set<int> groups;
      for (int r = row; r < row + 8; ++r) groups.insert(place(r, chunk) * 2 / 16 % 8);
      if (groups.size() != 8) return std::puts("bank conflict"), 1;
    }
  std::vector<int> c(kTile * kTile, 12345);
  for (int warp = 0; warp < kThreads / 32; ++warp) {
    const int warp_m = warp / kWarpsN * kWarpM, warp_n = warp % kWarpsN * kWarpN;
    for (int i = 0; i < kWarpM / 16; ++i)
      for (int j = 0; j < kWarpN / 8; ++j) {
        int sum[16][8] = {};
        for (int k = 0; k < kDepth / 16; ++k) {
          // ldmatrix.x4: matrix q takes the addresses of lanes 8q to 8q + 7; lane l gets the pair 2
          // (l % 4) of row l / 4 in register q.
          const auto loaded = [&](const std::vector<int>& tile, auto address, int lane, int q,
                                  int half) {
            return tile[address(q * 8 + lane / 4) + 2 * (lane % 4) + half];
          };
          const auto a_at = [&](int l) {
            return place(warp_m + i * 16 + a_row(l), k * 2 + a_chunk(l));
          };
          const auto b_at = [&](int l) {
            return place(warp_n + j / 2 * 16 + b_row(l), k * 2 + b_chunk(l));
          };
          // mma.m16n8k16: register 0 of A has rows 0-7 and depth 0-7, 1 rows 8-15, 2 depth 8-15, 3
          // both; of B register 0 has depth 0-7, 1 depth 8-15, column l / 4.
          int A[16][16], B[16][8];
          for (int lane = 0; lane < 32; ++lane)
            for (int half = 0; half < 2; ++half) {
              for (int q = 0; q < 4; ++q)
                A[lane / 4 + (q & 1) * 8][2 * (lane % 4) + half + (q >> 1) * 8] =
                    loaded(a_tile, a_at, lane, q, half);
              for (int q = 0; q < 2; ++q)
                B[2 * (lane % 4) + half + q * 8][lane / 4] =
                    loaded(b_tile, b_at, lane, (j & 1) * 2 + q, half);
            }
          for (int r = 0; r < 16; ++r)
            for (int n = 0; n < 8; ++n)
              for (int d = 0; d < 16; ++d) sum[r][n] += A[r][d] * B[d][n];
        }
        for (int lane = 0; lane < 32; ++lane)
          for (int e = 0; e < 4; ++e)
            c[(warp_m + i * 16 + d_row(lane, e)) * kTile + warp_n + j * 8 + d_col(lane, e)] =
                sum[lane / 4 + (e >> 1) * 8][2 * (lane % 4) + (e & 1)];
      }
  }
  for (int m = 0; m < kTile; ++m)
    for (int n = 0; n < kTile; ++n) {
      int sum = 0;
      for (int k = 0; k < kDepth; ++k) sum += a[m * kDepth + k] * b[n * kDepth + k];
      if (c[m * kTile + n] != sum) return std::printf("C[%d][%d]\n", m, n), 1;
    }
  for (const int rows : {1, 7, 8, 9, 17})
    for (const int cols : {1, 2, 13}) {
      std::set<std::pair<int, int>> tiles;
      for (int block = 0; block < rows * cols; ++block) {
        int m = -1, n = -1;
        tile_of(block, rows, cols, m, n);
        if (m >= 0 && m < rows && n >= 0 && n < cols) tiles.emplace(m, n);
      }
      if (static_cast<int>(tiles.size()) != rows * cols) return std::puts("tiles"), 1;
    }
}
