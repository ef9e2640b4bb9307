// Arenas in other types, sums of arenas, and how well a reference computes. Part of judge.cu; the
// rules are those of kernels/worker: describe.cpp, combine.cpp and compare.cpp.

#pragma once

#include "judge_errors.cuh"
#include "judge_numbers.cuh"

namespace {

/// The nearest value of a format of at most 16 bits, as `encode_small` in small_float.h.
__device__ Bits encode(double value, int exponent_bits, int mantissa_bits, bool infinities) {
  const Bits sign = signbit(value) ? 1u << (exponent_bits + mantissa_bits) : 0u;
  const Bits top = (1u << exponent_bits) - 1;
  const Bits all_ones = (top << mantissa_bits) | ((1u << mantissa_bits) - 1);
  if (isnan(value))
    return sign | (infinities ? (top << mantissa_bits) | (1u << (mantissa_bits - 1)) : all_ones);
  const Bits largest = infinities ? (top << mantissa_bits) - 1 : all_ones - 1;
  const Bits beyond = infinities ? top << mantissa_bits : largest;
  const double magnitude = fabs(value);
  if (isinf(magnitude)) return sign | beyond;
  if (magnitude == 0) return sign;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = max(ilogb(magnitude), 1 - bias);
  const double steps = rint(ldexp(magnitude, mantissa_bits - exponent));
  const double code = steps + ldexp(static_cast<double>(exponent + bias - 1), mantissa_bits);
  if (code > static_cast<double>(largest)) return sign | beyond;
  return sign | static_cast<Bits>(code);
}

/// Stores a value of any floating-point type, rounded once.
__device__ void put(unsigned char* data, Type type, Word i, double value) {
  if (type == f64) reinterpret_cast<double*>(data)[i] = value;
  if (type == f32) reinterpret_cast<float*>(data)[i] = static_cast<float>(value);
  if (type == f16)
    reinterpret_cast<unsigned short*>(data)[i] =
        static_cast<unsigned short>(encode(value, 5, 10, true));
  if (type == bf16)
    reinterpret_cast<unsigned short*>(data)[i] =
        static_cast<unsigned short>(encode(value, 8, 7, true));
  if (type == e4m3) data[i] = static_cast<unsigned char>(encode(value, 4, 3, false));
  if (type == e5m2) data[i] = static_cast<unsigned char>(encode(value, 5, 2, true));
}

__global__ void widen(double* to, Type type, Word count, const unsigned char* from) {
  const int bytes = bytes_of(type);
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = value_of(raw(from, bytes, i), type);
}

/// The sums with `other`, or, if it is null, the magnitudes.
__global__ void combine(unsigned char* data, Type type, Word count, const unsigned char* other) {
  const int bytes = bytes_of(type);
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const double value = value_of(raw(data, bytes, i), type);
    put(data, type, i, other ? value + value_of(raw(other, bytes, i), type) : fabs(value));
  }
}

/// Exchanges two memories, both aligned to 16 bytes.
__global__ void exchange(unsigned char* a, Word bytes, unsigned char* b) {
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  const Word first = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (Word i = first; i < bytes / 16; i += step) {
    const uint4 x = reinterpret_cast<const uint4*>(a)[i];
    reinterpret_cast<uint4*>(a)[i] = reinterpret_cast<const uint4*>(b)[i];
    reinterpret_cast<uint4*>(b)[i] = x;
  }
  for (Word i = bytes / 16 * 16 + first; i < bytes; i += step) {
    const unsigned char x = a[i];
    a[i] = b[i];
    b[i] = x;
  }
}

struct Sampled {
  Word seen, far;
};

/// Of every `stride`th element: how many differ from the shadow at all, and how many are far off.
__global__ void sample_far(Output output, Word stride, Sampled* result) {
  const Type type = static_cast<Type>(output.type);
  const int bytes = bytes_of(type);
  Word seen = 0, far = 0;
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x * stride;
  for (Word i = (static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x) * stride;
       i < output.count; i += step) {
    const double typed = value_of(raw(output.expected, bytes, i), type);
    seen += typed != output.shadow[i];
    if (!isfinite(typed)) continue;
    const double most =
        __dmul_rn(output.far_from_shadow, plain_of(output, i, scale_of(output, i), typed));
    far += !(fabs(__dadd_rn(typed, -output.shadow[i])) <= most);
  }
  seen = count_of_warp(seen);
  far = count_of_warp(far);
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&result->seen, seen);
  atomicAdd(&result->far, far);
}

struct Binades {
  double squares[kBinades];
  Word counts[kBinades];
};

/// The squares of the reference's distances from its shadow, by binade. A warp adds up what it has
/// of one binade before the next.
__global__ void measure_honesty(Output output, Binades* total) {
  __shared__ double squares[kBinades];
  __shared__ Word counts[kBinades];
  for (int b = threadIdx.x; b < kBinades; b += blockDim.x) squares[b] = 0, counts[b] = 0;
  __syncthreads();
  const Type type = static_cast<Type>(output.type);
  const int bytes = bytes_of(type), lane = threadIdx.x % 32;
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word from = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x - lane;
       from < output.count; from += step) {
    const Word i = from + lane;
    int binade = -1;
    double error = 0;
    if (i < output.count) {
      const double typed = value_of(raw(output.expected, bytes, i), type);
      const double value = output.shadow[i];
      if (isfinite(typed) && isfinite(value)) binade = binade_of(value), error = typed - value;
    }
    for (Bits left = __ballot_sync(~0u, binade >= 0); left != 0;) {
      const int now = __shfl_sync(~0u, binade, __ffs(static_cast<int>(left)) - 1);
      const Bits same = __ballot_sync(~0u, binade == now);
      const double sum = sum_of_warp(binade == now ? error * error : 0);
      if (lane == 0) {
        atomicAdd(&squares[now], sum);
        atomicAdd(&counts[now], static_cast<Word>(__popc(same)));
      }
      left &= ~same;
    }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < kBinades; b += blockDim.x)
    if (counts[b] > 0) {
      atomicAdd(&total->squares[b], squares[b]);
      atomicAdd(&total->counts[b], counts[b]);
    }
}

}  // namespace
