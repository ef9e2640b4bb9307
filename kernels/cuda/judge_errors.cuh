// The errors of one output. Part of judge.cu; the rules are those of kernels/worker/compare.cpp,
// rounded after each step as there.

#pragma once

#include "judge_numbers.cuh"

namespace {

constexpr int kBinades = 128;

/// Non-negative doubles have the same order as their bits. `first_bad` starts at all ones.
struct Tally {
  double max_abs, max_rel, sum_abs;
  Word finite, mismatches, far, unwritten, unexpected, first_bad;
  double squares, inwards, honest, rounding;
  Word small, flushed;
};

/// As in kernels/worker/cuda/judge_words.h.
struct Output {
  const unsigned char *sent, *got, *expected, *terms;
  const double *shadow, *honest;
  const float* rows;
  Word count, type, row;
  double atol, rtol, scale, least, of_terms;
  double honest_times, unit, rough_below, far_from_shadow;
  Word exact, only_honest, flush;
};

/// The magnitudes of one element.
struct Element {
  double got, typed, value;  // returned, the reference's, and what errors are distances from
  double scale;              // of `atol`
  double plain;              // allowed, with nothing added for honest errors
};

__device__ double plain_of(const Output& output, Word i, double scale, double value) {
  double least = fmax(__dmul_rn(output.atol, scale), output.least);
  if (output.terms) {
    const Type type = static_cast<Type>(output.type);
    const double size = fabs(value_of(raw(output.terms, bytes_of(type), i), type));
    if (isfinite(size)) least = fmax(least, __dmul_rn(output.of_terms, size));
  }
  return __dadd_rn(least, __dmul_rn(output.rtol, fabs(value)));
}

__device__ double scale_of(const Output& output, Word i) {
  return output.rows ? static_cast<double>(output.rows[i / output.row]) : output.scale;
}

__device__ int binade_of(double value) {
  const int exponent = min(max(ilogb(value), -kBinades), kBinades);
  return value == 0 ? 0 : min(max(exponent + kBinades / 2, 0), kBinades - 1);
}

__device__ double allowed(const Output& output, const Element& one) {
  if (!output.shadow || output.honest_times == 0) return one.plain;
  const double own = output.honest[binade_of(one.value)];
  const double rounding = __dmul_rn(output.unit, fabs(one.value));
  const double inside = __dmul_rn(0x1p-20, one.scale);
  if (output.only_honest)
    return fmax(__dadd_rn(__dmul_rn(output.honest_times, __dadd_rn(own, rounding)), inside),
                output.least);
  return __dadd_rn(one.plain, __dmul_rn(output.honest_times, fmin(own, one.plain)));
}

__device__ bool within(const Output& output, const Element& one, double times) {
  if (isnan(one.typed)) return isnan(one.got);
  if (isinf(one.typed) || isinf(one.got)) return one.got == one.typed;
  // False for NaN.
  return fabs(__dadd_rn(one.got, -one.value)) <= __dmul_rn(times, allowed(output, one));
}

__device__ void add_to_whole(const Output& output, const Element& one, Tally& tally) {
  const double error = one.got - one.value;
  tally.squares += error * error;
  tally.inwards += one.value < 0 ? -error : error;
  if (output.shadow) {
    tally.honest += (one.typed - one.value) * (one.typed - one.value);
    if (one.value != 0) {
      const double step = ldexp(output.unit, ilogb(one.value));
      tally.rounding += step * step / 3;
    }
  }
  const double size = fmin(fabs(one.typed), fabs(one.value));
  if (!output.flush || size <= output.rough_below || size > one.plain) return;
  ++tally.small;
  tally.flushed += one.got == 0;
}

__device__ void judge_element(const Output& output, Word i, Tally& tally) {
  const Type type = static_cast<Type>(output.type);
  const int bytes = bytes_of(type);
  const Word got_bits = raw(output.got, bytes, i), typed_bits = raw(output.expected, bytes, i);
  Element one;
  one.got = value_of(got_bits, type);
  one.typed = value_of(typed_bits, type);
  one.value = output.shadow && isfinite(one.typed) ? output.shadow[i] : one.typed;
  one.scale = scale_of(output, i);
  one.plain = plain_of(output, i, one.scale, one.value);
  if (isfinite(one.got) && isfinite(one.value)) {
    const double error = fabs(one.got - one.value);
    ++tally.finite;
    tally.sum_abs += error;
    tally.max_abs = fmax(tally.max_abs, error);
    if (one.value != 0) tally.max_rel = fmax(tally.max_rel, error / fabs(one.value));
    if (output.shadow || output.flush) add_to_whole(output, one, tally);
  }
  if (output.exact ? got_bits == typed_bits : within(output, one, 1)) return;
  ++tally.mismatches;
  // Beyond twice what is allowed.
  if (output.exact || !within(output, one, 2)) ++tally.far;
  if (i < tally.first_bad) tally.first_bad = i;
  if (!isfinite(one.got) && isfinite(one.typed)) ++tally.unexpected;
  if (got_bits == raw(output.sent, bytes, i)) ++tally.unwritten;
}

__device__ void add_wholes(const Tally& mine, Tally* total) {
  const double squares = sum_of_warp(mine.squares), inwards = sum_of_warp(mine.inwards);
  const double honest = sum_of_warp(mine.honest), rounding = sum_of_warp(mine.rounding);
  const Word small = count_of_warp(mine.small), flushed = count_of_warp(mine.flushed);
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&total->squares, squares);
  atomicAdd(&total->inwards, inwards);
  atomicAdd(&total->honest, honest);
  atomicAdd(&total->rounding, rounding);
  atomicAdd(&total->small, small);
  atomicAdd(&total->flushed, flushed);
}

__device__ void add(const Tally& mine, Tally* total) {
  const double max_abs = most_of_warp(mine.max_abs), max_rel = most_of_warp(mine.max_rel);
  const double sum_abs = sum_of_warp(mine.sum_abs);
  const Word finite = count_of_warp(mine.finite), mismatches = count_of_warp(mine.mismatches);
  const Word far = count_of_warp(mine.far), unwritten = count_of_warp(mine.unwritten);
  const Word unexpected = count_of_warp(mine.unexpected);
  const Word first_bad = least_of_warp(mine.first_bad);
  if (threadIdx.x % 32 != 0) return;
  atomicMax(reinterpret_cast<Word*>(&total->max_abs),
            static_cast<Word>(__double_as_longlong(max_abs)));
  atomicMax(reinterpret_cast<Word*>(&total->max_rel),
            static_cast<Word>(__double_as_longlong(max_rel)));
  atomicAdd(&total->sum_abs, sum_abs);
  atomicAdd(&total->finite, finite);
  if (mismatches == 0) return;
  atomicAdd(&total->mismatches, mismatches);
  atomicAdd(&total->far, far);
  atomicAdd(&total->unwritten, unwritten);
  atomicAdd(&total->unexpected, unexpected);
  atomicMin(&total->first_bad, first_bad);
}

__global__ void compare_output(Output output, Tally* total) {
  Tally mine{};
  mine.first_bad = ~0ull;
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i < output.count;
       i += step)
    judge_element(output, i, mine);
  add(mine, total);
  if (output.shadow || output.flush) add_wholes(mine, total);
}

}  // namespace
