// The judge's device code: generates inputs and poison and compares outputs on the GPU. Built once
// per machine by the same compiler as the kernels, and run in a process that no kernel shares. The
// worker calls `ratchet_judge` with one operation; the numbers of operations and types and the
// layout of words are those of kernels/worker/cuda/judge_words.h and device_judge.cpp. The rules of
// comparison are those of kernels/worker/compare_rules.h.
//
// Work is queued on the legacy stream. Results go to device memory that the caller has cleared.

#include "judge_arenas.cuh"
#include "judge_errors.cuh"
#include "judge_numbers.cuh"

namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 1056;  // eight for each multiprocessor of the largest chips

// --------------------------------------------------------------------------------------- random

struct Philox {
  Bits key[2], salt[2], stream;

  __device__ uint4 operator()(Word counter) const {
    uint4 x = make_uint4(static_cast<Bits>(counter), static_cast<Bits>(counter >> 32) ^ salt[0],
                         stream, salt[1]);
    Bits k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const Bits high0 = __umulhi(0xD2511F53u, x.x), low0 = 0xD2511F53u * x.x;
      const Bits high1 = __umulhi(0xCD9E8D57u, x.z), low1 = 0xCD9E8D57u * x.z;
      x = make_uint4(high1 ^ x.y ^ k0, low1, high0 ^ x.w ^ k1, low0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return x;
  }
};

// -------------------------------------------------------------------------------------- contents

__device__ void store(unsigned char* data, Type type, Word i, double value) {
  const float single = static_cast<float>(value);
  if (type == f64) reinterpret_cast<double*>(data)[i] = value;
  if (type == f32) reinterpret_cast<float*>(data)[i] = single;
  if (type == f16) {
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(single));
    reinterpret_cast<unsigned short*>(data)[i] = half;
  }
  if (type == bf16) {
    const Bits bits = __float_as_uint(single);
    const Bits even = (bits >> 16) & 1;
    reinterpret_cast<unsigned short*>(data)[i] =
        static_cast<unsigned short>((bits + 0x7fffu + even) >> 16);
  }
}

__global__ void random_bytes(unsigned char* data, Word bytes, Philox random) {
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word block = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; block * 16 < bytes;
       block += step) {
    const uint4 drawn = random(block);
    const unsigned char* from = reinterpret_cast<const unsigned char*>(&drawn);
    if (block * 16 + 16 <= bytes)
      *reinterpret_cast<uint4*>(data + block * 16) = drawn;
    else
      for (Word i = block * 16; i < bytes; ++i) data[i] = from[i - block * 16];
  }
}

/// Box-Muller, four values per block of random bits.
__global__ void gaussian(unsigned char* data, Type type, Word count, Philox random, double mean,
                         double deviation) {
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word block = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; block * 4 < count;
       block += step) {
    const uint4 drawn = random(block);
    const Bits bits[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
    for (int pair = 0; pair < 2; ++pair) {
      // In (0, 1], so that the logarithm is finite.
      const float u = fminf((static_cast<float>(bits[2 * pair]) + 1) * 0x1p-32f, 1.0f);
      const float radius = sqrtf(-2 * logf(u));
      float sine, cosine;
      sincospif(2 * static_cast<float>(bits[2 * pair + 1]) * 0x1p-32f, &sine, &cosine);
      const Word i = block * 4 + 2 * pair;
      if (i < count) store(data, type, i, mean + deviation * radius * cosine);
      if (i + 1 < count) store(data, type, i + 1, mean + deviation * radius * sine);
    }
  }
}

/// Uniform in [low, high).
__global__ void uniform(unsigned char* data, Type type, Word count, Philox random, double low,
                        double high) {
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word block = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; block * 4 < count;
       block += step) {
    const uint4 drawn = random(block);
    const Bits bits[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
    for (Word i = block * 4; i < count && i < block * 4 + 4; ++i)
      store(data, type, i, low + (high - low) * bits[i - block * 4] * 0x1p-32);
  }
}

// In the order of RowShape in kernels/worker/cuda/judge_words.h.
enum RowShape { special, sequence, extreme, edge };

/// The shapes of kernels/worker/generate.cpp of the same names, and the edges of recipe_values.cpp,
/// row by row. `own` is the subnormal of `special`, or the value of `edge`.
__global__ void rows(unsigned char* data, Type type, Word count, Philox random, RowShape shape,
                     Word length, double own) {
  const Word turn = random(1ull << 40).x;
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const Word row = i / length, place = i % length;
    const double part = static_cast<double>(place) / static_cast<double>(length);
    const uint4 drawn = random(i);
    if (shape == extreme) {
      const double around = 2 * (drawn.x * 0x1p-32) - 1;
      store(data, type, i, 30 * around + (around < 0 ? -90 : 90));
      continue;
    }
    if (shape == sequence) {
      const Word kind = (row + turn) % 4;
      store(data, type, i,
            kind == 0   ? 4 * part - 2
            : kind == 1 ? 2 - 4 * part
            : kind == 2
                ? ((row + turn) / 4 % 2 == 0 ? 0.25 : -0.25) * static_cast<double>(row % 7 + 1)
                : (place % 2 == 0 ? 1.0 : -1.0));
      continue;
    }
    const float u = fminf((static_cast<float>(drawn.x) + 1) * 0x1p-32f, 1.0f);
    const double deviate = sqrtf(-2 * logf(u)) * cospif(2 * static_cast<float>(drawn.y) * 0x1p-32f);
    double value = deviate;
    if (shape == edge) {
      const uint4 of_row = random((1ull << 44) + row);
      const bool chosen = row == 0 || of_row.x % 2 == 0;
      if (chosen && place == of_row.y % length) value = of_row.z % 2 == 0 ? own : -own;
      store(data, type, i, value);
      continue;
    }
    switch ((row + turn) % 8) {
      case 0:
        value = 0.0;
        break;
      case 1:
        value = drawn.z >> 31 ? 0.0 : -0.0;
        break;
      case 2:
        value = own * deviate;
        break;
      case 3:
        value = round(4 * deviate) / 2;
        break;
      case 4:
        value = 0x1p-12 * deviate;
        break;
      case 5:
        value = place == row % length ? 1.0 : 0.0;
        break;
    }
    store(data, type, i, value);
  }
}

/// The low bytes of `value` in every element.
__global__ void fill_elements(unsigned char* data, int bytes, Word count, Word value) {
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    for (int byte = 0; byte < bytes; ++byte)
      data[i * bytes + byte] = static_cast<unsigned char>(value >> (8 * byte));
}

/// Rounds every value of `from` to the given number of significand bits.
__global__ void shorten(unsigned char* to, Type type, Word count, const unsigned char* from,
                        int significand) {
  const int bytes = bytes_of(type);
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    double value = value_of(raw(from, bytes, i), type);
    if (isfinite(value) && value != 0) {
      const int shift = significand - 1 - ilogb(value);
      value = ldexp(rint(ldexp(value, shift)), -shift);
    }
    store(to, type, i, value);
  }
}

// ------------------------------------------------------------------------------------- comparing

/// Sets *differs if any byte differs. Compares 16 bytes at a time where both addresses are aligned.
__global__ void compare_bytes(const unsigned char* a, const unsigned char* b, Word bytes,
                              Word* differs) {
  bool same = true;
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  const Word first = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool aligned = (reinterpret_cast<Word>(a) | reinterpret_cast<Word>(b)) % 16 == 0;
  const Word vectors = aligned ? bytes / 16 : 0;
  for (Word i = first; i < vectors; i += step) {
    const uint4 x = reinterpret_cast<const uint4*>(a)[i];
    const uint4 y = reinterpret_cast<const uint4*>(b)[i];
    same = same && x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w;
  }
  for (Word i = vectors * 16 + first; i < bytes; i += step) same = same && a[i] == b[i];
  if (!same) *differs = 1;
}

struct Squares {
  double sum;
  Word finite;
};

__global__ void sum_squares(const unsigned char* data, Type type, Word count, Squares* result) {
  const int bytes = bytes_of(type);
  double sum = 0;
  Word finite = 0;
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const double value = value_of(raw(data, bytes, i), type);
    if (!isfinite(value)) continue;
    sum += value * value;
    ++finite;
  }
  sum = sum_of_warp(sum);
  finite = count_of_warp(finite);
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&result->sum, sum);
  atomicAdd(&result->finite, finite);
}

/// The RMS of the finite values of each row; a warp takes a row.
__global__ void row_magnitudes(const unsigned char* data, Type type, Word rows, Word length,
                               float* result) {
  const int bytes = bytes_of(type);
  const Word step = static_cast<Word>(gridDim.x) * (blockDim.x / 32);
  for (Word row = (static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; row < rows;
       row += step) {
    double sum = 0;
    Word finite = 0;
    for (Word i = row * length + threadIdx.x % 32; i < (row + 1) * length; i += 32) {
      const double value = value_of(raw(data, bytes, i), type);
      if (!isfinite(value)) continue;
      sum += value * value;
      ++finite;
    }
    sum = sum_of_warp(sum);
    finite = count_of_warp(finite);
    if (threadIdx.x % 32 == 0)
      result[row] = finite ? static_cast<float>(sqrt(sum / static_cast<double>(finite))) : 0.0f;
  }
}

/// Every `stride`th value.
__global__ void sample(const unsigned char* data, Type type, Word count, Word stride,
                       double* result) {
  const int bytes = bytes_of(type);
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i * stride < count;
       i += step)
    result[i] = value_of(raw(data, bytes, i * stride), type);
}

template <class T>
T* pointer(long long word) {
  return reinterpret_cast<T*>(word);
}

double real(long long word) {
  double value;
  __builtin_memcpy(&value, &word, sizeof value);
  return value;
}

Philox philox(const long long* words) {
  const auto half = [](long long word, int which) {
    return static_cast<Bits>(static_cast<Word>(word) >> (32 * which));
  };
  return {{half(words[0], 0), half(words[0], 1)},
          {half(words[1], 0), half(words[1], 1)},
          static_cast<Bits>(words[2])};
}

}  // namespace

extern "C" void ratchet_judge(const long long* words) {
  using Byte = unsigned char;
  const auto count = static_cast<Word>(words[2]);
  const auto type = static_cast<Type>(words[3]);
  switch (words[0]) {
    case 0:
      random_bytes<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), count, philox(words + 4));
      break;
    case 1:
      gaussian<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), type, count, philox(words + 4),
                                      real(words[7]), real(words[8]));
      break;
    case 2:
      uniform<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), type, count, philox(words + 4),
                                     real(words[7]), real(words[8]));
      break;
    case 3:
      compare_bytes<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), pointer<Byte>(words[4]), count,
                                           pointer<Word>(words[5]));
      break;
    case 4:
      sum_squares<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), type, count,
                                         pointer<Squares>(words[4]));
      break;
    case 5:
      compare_output<<<kBlocks, kThreads>>>(*pointer<Output>(words[1]), pointer<Tally>(words[2]));
      break;
    case 6:
      fill_elements<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), static_cast<int>(words[3]),
                                           count, static_cast<Word>(words[4]));
      break;
    case 7:
      shorten<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), type, count, pointer<Byte>(words[4]),
                                     static_cast<int>(words[5]));
      break;
    case 8:
      rows<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), type, count, philox(words + 4),
                                  static_cast<RowShape>(words[7]), static_cast<Word>(words[8]),
                                  real(words[9]));
      break;
    case 9:
      row_magnitudes<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), type, count,
                                            static_cast<Word>(words[4]), pointer<float>(words[5]));
      break;
    case 10:
      sample<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), type, count,
                                    static_cast<Word>(words[4]), pointer<double>(words[5]));
      break;
    case 11:
      sample_far<<<kBlocks, kThreads>>>(*pointer<Output>(words[1]), static_cast<Word>(words[3]),
                                        pointer<Sampled>(words[2]));
      break;
    case 12:
      measure_honesty<<<kBlocks, kThreads>>>(*pointer<Output>(words[1]),
                                             pointer<Binades>(words[2]));
      break;
    case 13:
      widen<<<kBlocks, kThreads>>>(pointer<double>(words[1]), type, count, pointer<Byte>(words[4]));
      break;
    case 14:
      combine<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), type, count, pointer<Byte>(words[4]));
      break;
    case 15:
      exchange<<<kBlocks, kThreads>>>(pointer<Byte>(words[1]), count, pointer<Byte>(words[4]));
      break;
  }
}
