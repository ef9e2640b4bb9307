// The wiki's decode attention: parts cover all pages in whole rounds and fit into the room for
// partial results; a lane's 16 bytes of keys, queries and values are the operands of the products,
// which are driven here as the hardware drives them and compared with the plain sums.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "region.h"

namespace {

/// D = A B of one mma.m16n8k16. A and B hold, a lane, register and half, a number.
struct Product {
  int a[32][4][2], b[32][2][2];
  int at(int row, int column) const {
    int sum = 0;
    for (int k = 0; k < 16; ++k) {
      const int half = k % 2, c = k % 8 / 2, deep = k / 8;
      sum += a[row % 8 * 4 + c][row / 8 + 2 * deep][half] * b[column * 4 + c][deep][half];
    }
    return sum;
  }
};

}  // namespace

int main() {
  for (int heads = 1; heads < 9000; heads = heads * 5 / 4 + 1)
    for (int group = 1; group <= kMaxGroup; ++group)
      for (int pages = 1; pages < 20000; pages = pages * 3 / 2 + 1) {
        const int parts = parts_for(heads, group, pages, 132);
        if (heads * group > kMaxParts) {
          if (parts >= 1) return std::puts("room"), 1;
          continue;
        }
        const int share = pages_of_part(pages, parts);
        if (parts < 1 || heads * group * parts > kMaxParts) return std::puts("parts"), 1;
        if (share % kWarps != 0 || static_cast<long>(parts) * share < pages)
          return std::puts("pages"), 1;
        for (int used = 1; used <= pages; used = used * 2 + 1)
          if ((used + share - 1) / share > parts) return std::puts("used"), 1;
      }

  static int keys[kPage][kDim], queries[kMaxGroup][kDim], values[kPage][kDim],
      weights[kMaxGroup][kPage];
  std::srand(1);
  const auto any = [] { return std::rand() % 15 - 7; };
  for (auto& row : keys)
    for (int& v : row) v = any();
  for (auto& row : queries)
    for (int& v : row) v = any();
  for (auto& row : values)
    for (int& v : row) v = any();
  for (auto& row : weights)
    for (int& v : row) v = any();

  // Scores: two products a chunk, of words 0 and 1 and of words 2 and 3 of each lane's 16 bytes.
  static int scores[kPage][kMaxGroup];
  for (int chunk = 0; chunk < kDim / 32; ++chunk)
    for (int part = 0; part < 2; ++part) {
      Product one;
      for (int lane = 0; lane < 32; ++lane)
        for (int word = 0; word < 2; ++word)
          for (int half = 0; half < 2; ++half) {
            const int dim = key_dim(lane, chunk) + (2 * part + word) * 2 + half;
            for (int row = 0; row < 2; ++row)
              one.a[lane][row + 2 * word][half] = keys[lane / 4 + 8 * row][dim];
            one.b[lane][word][half] = queries[lane / 4][dim];
          }
      for (int key = 0; key < kPage; ++key)
        for (int head = 0; head < kMaxGroup; ++head) scores[key][head] += one.at(key, head);
    }
  for (int key = 0; key < kPage; ++key)
    for (int head = 0; head < kMaxGroup; ++head) {
      int plain = 0;
      for (int d = 0; d < kDim; ++d) plain += keys[key][d] * queries[head][d];
      if (scores[key][head] != plain) return std::puts("scores"), 1;
    }

  // Outputs: product t has two dimensions of each lane's four keys as rows, the weights as columns.
  for (int t = 0; t < kDim / 16; ++t) {
    Product one;
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int half = 0; half < 2; ++half) {
          const int dim = value_dim(lane, t / 4) + t % 4 * 2 + half;
          one.a[lane][half + i / 2 * 2][i % 2] = values[value_key(lane, i)][dim];
          // Transposed: head lane / 4, keys 2 (lane % 4) and the next, eight further in register 1.
          one.b[lane][i / 2][i % 2] = weights[lane / 4][value_key(lane, i)];
        }
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        const int head = out_head(lane, i), dim = out_dim(lane, t, i);
        int plain = 0;
        for (int key = 0; key < kPage; ++key) plain += weights[head][key] * values[key][dim];
        if (one.at(lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2) != plain)
          return std::puts("outputs"), 1;
      }
  }
}
