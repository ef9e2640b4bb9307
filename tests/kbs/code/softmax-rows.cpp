// The threads of a row hold each of its columns once, at every length that registers can hold.
#include <cstdio>
#include <vector>

#include "region.h"

int main() {
  for (const int cols : {1, 3, 4, 31, 1023, 1024, 1025, 8191, 8192, 8193, 32767, 32768}) {
    const int threads = threads_for(cols);
    std::vector<int> held(cols);
    for (int t = 0; t < threads; ++t)
      for (int j = 0; j < kHeld; ++j)
        for (int i = 0; i < 4; ++i)
          if (const int c = column_of(threads, t, j) + i; c < cols) ++held[c];
    for (const int times : held)
      if (times != 1) return std::printf("%d columns\n", cols), 1;
  }
  if (threads_for(32769) != 0) return std::puts("too long"), 1;
}
