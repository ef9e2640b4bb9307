// The errors of one output. Part of judge.cu; the rules are those of kernels/worker/compare.cpp.

#pragma once

#include "judge_numbers.cuh"

namespace {

/// Non-negative doubles have the same order as their bits. `first_bad` starts at all ones.
struct Tally {
  double max_abs, max_rel, sum_abs;
  Word finite, mismatches, far, unwritten, unexpected, first_bad;
};

struct Output {
  const unsigned char *sent, *got, *expected;
  Word count;
  Type type;
  bool exact;
  double atol, rtol;
  double least;       // allowed at any scale
  const float* rows;  // scales of `atol`, by row; null: 1
  Word row;           // elements of a row
};

__device__ bool within(double got, double expected, double error, const Output& output, Word i) {
  if (isnan(expected)) return isnan(got);
  if (isinf(expected) || isinf(got)) return got == expected;
  const double scale = output.rows ? static_cast<double>(output.rows[i / output.row]) : 1.0;
  // Rounded after each step, as on the host; false for NaN.
  const double atol = fmax(__dmul_rn(output.atol, scale), output.least);
  return error <= __dadd_rn(atol, __dmul_rn(output.rtol, fabs(expected)));
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
  const int bytes = bytes_of(output.type);
  Tally mine{0, 0, 0, 0, 0, 0, 0, 0, ~0ull};
  const Word step = static_cast<Word>(gridDim.x) * blockDim.x;
  for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i < output.count;
       i += step) {
    const Word got_bits = raw(output.got, bytes, i), wanted_bits = raw(output.expected, bytes, i);
    const double got = value_of(got_bits, output.type);
    const double wanted = value_of(wanted_bits, output.type);
    const double error = fabs(got - wanted);
    if (isfinite(got) && isfinite(wanted)) {
      ++mine.finite;
      mine.sum_abs += error;
      mine.max_abs = fmax(mine.max_abs, error);
      if (wanted != 0) mine.max_rel = fmax(mine.max_rel, error / fabs(wanted));
    }
    if (output.exact ? got_bits == wanted_bits : within(got, wanted, error, output, i)) continue;
    ++mine.mismatches;
    // Beyond twice what is allowed.
    if (output.exact || !within(got, wanted, error / 2, output, i)) ++mine.far;
    if (i < mine.first_bad) mine.first_bad = i;
    if (!isfinite(got) && isfinite(wanted)) ++mine.unexpected;
    if (got_bits == raw(output.sent, bytes, i)) ++mine.unwritten;
  }
  add(mine, total);
}

}  // namespace
