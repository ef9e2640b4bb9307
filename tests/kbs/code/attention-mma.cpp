// The wiki's attention with mma.sync: a whole warp's tile through a model of the instructions, from
// the swizzled places that lanes name to sums, against plain products; banks; and the tiles that
// queries see.
#include <cstdio>
#include <set>
#include <vector>

#include "region.h"

namespace {

using Fragment = float[32][4][2];  // lane, register, half

/// ldmatrix.x4: lane l names row l % 8 of matrix l / 8; afterwards it holds row l / 4, columns 2 (l
/// % 4) and one more.
void load4(Fragment& to, const std::vector<float>& tile, const int (&at)[32], bool transposed) {
  for (int lane = 0; lane < 32; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix)
      for (int half = 0; half < 2; ++half) {
        const int row = transposed ? lane % 4 * 2 + half : lane / 4;
        const int column = transposed ? lane / 4 : lane % 4 * 2 + half;
        to[lane][matrix][half] = tile[at[matrix * 8 + row] + column];
      }
}

/// mma.m16n8k16 as the PTX manual lays it out.
void mma(float (&d)[32][4], const Fragment& a, const Fragment& b, int first) {
  float left[16][16], right[16][8];
  for (int lane = 0; lane < 32; ++lane)
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < 4; ++i)
        left[lane / 4 + i % 2 * 8][lane % 4 * 2 + half + i / 2 * 8] = a[lane][i][half];
      for (int i = 0; i < 2; ++i)
        right[lane % 4 * 2 + half + i * 8][lane / 4] = b[lane][first + i][half];
    }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 16; ++k) d[lane][i] += left[d_row(lane, i)][k] * right[k][d_col(lane, i)];
}

float value(int row, int column) {
  return static_cast<float>((row * 37 + column * 11) % 23 - 11);
}

std::vector<float> tile_of(int rows) {
  std::vector<float> tile(rows * kDim, 1e9F);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < kDim; ++column)
      tile[place(row, column / 8) + column % 8] = value(row, column);
  return tile;
}

}  // namespace

int main() {
  for (int first = 0; first < 8; ++first)
    for (int chunk = 0; chunk < kDim / 8; ++chunk) {
      std::set<int> groups;  // eight rows of a chunk column: eight different groups of banks
      for (int row = 0; row < 8; ++row) groups.insert(place(first * 8 + row, chunk) / 8 % 8);
      if (groups.size() != 8) return std::puts("banks"), 1;
    }
  for (int row = 0; row < 16; ++row)
    for (int d = 0; d < kDim / 16; ++d)
      for (int c = 0; c < 2; ++c)
        if (place(row + 8, 2 * d + c) * 2 !=
            static_cast<int>((place(row, c) * 2 ^ two_chunks(d)) + rows_further(8)))
          return std::puts("addresses"), 1;

  const auto queries = tile_of(32), keys = tile_of(kKeys), values = tile_of(kKeys);
  const auto at = [](int row, int (*lane_row)(int), int (*lane_chunk)(int), int d, int(&to)[32]) {
    for (int lane = 0; lane < 32; ++lane)
      to[lane] = static_cast<int>((place(lane_row(lane), lane_chunk(lane)) * 2 ^ two_chunks(d)) +
                                  rows_further(row)) /
                 2;
  };
  float scores[kColumns][32][4] = {}, outs[kOuts][32][4] = {};
  for (int d = 0; d < kDim / 16; ++d) {
    Fragment a, b;
    int lanes[32];
    at(16, a_row, a_chunk, d, lanes);  // the warp's second 16 queries
    load4(a, queries, lanes, false);
    for (int j = 0; j < kColumns; j += 2) {
      at(j * 8, k_row, k_chunk, d, lanes);
      load4(b, keys, lanes, false);
      mma(scores[j], a, b, 0);
      mma(scores[j + 1], a, b, 2);
    }
  }
  for (int j = 0; j < kColumns; ++j)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        float sum = 0;
        for (int c = 0; c < kDim; ++c)
          sum += value(16 + d_row(lane, i), c) * value(j * 8 + d_col(lane, i), c);
        if (scores[j][lane][i] != sum) return std::puts("scores"), 1;
      }
  for (int j = 0; j < kKeys / 16; ++j) {
    Fragment a, b;
    for (int lane = 0; lane < 32; ++lane)
      for (int e = 0; e < 4; ++e)
        for (int half = 0; half < 2;
             ++half)  // the registers of two accumulator tiles, as the kernel packs them
          a[lane][e][half] = value(d_row(lane, e % 2 * 2), (2 * j + e / 2) * 8 + d_col(lane, half));
    for (int d = 0; d < kOuts; d += 2) {
      int lanes[32];
      at(j * 16, a_row, a_chunk, d / 2, lanes);
      load4(b, values, lanes, true);
      mma(outs[d], a, b, 0);
      mma(outs[d + 1], a, b, 2);
    }
  }
  for (int d = 0; d < kOuts; ++d)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        float sum = 0;
        for (int key = 0; key < kKeys; ++key)
          sum += value(d_row(lane, i), key) * value(key, d * 8 + d_col(lane, i));
        if (outs[d][lane][i] != sum) return std::puts("outs"), 1;
      }
  for (int tokens = 1; tokens < 400; ++tokens)
    for (int first = 0; first < tokens; first += kQueries) {
      const int last = first + kQueries - 1 < tokens ? first + kQueries - 1 : tokens - 1;
      if (key_tiles(first, tokens, 0) != (tokens + kKeys - 1) / kKeys)
        return std::puts("all keys"), 1;
      if (key_tiles(first, tokens, 1) != last / kKeys + 1) return std::puts("causal keys"), 1;
    }
}
