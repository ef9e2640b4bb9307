// ---
// id: code-topk-rows
// title: "Row-wise top-k on the processor: code in four steps"
// kind: code
// tags: [compute, host, simd, latency]
// architectures: [x86-64]
// languages: [cpp]
// aliases: [topk code, selection code, partial sort code]
// confidence: verified
// code_evidence: measured
// measured_on: "AMD EPYC, 2 cores"
// related: [kernel-topk-rows]
// cures:
//   pattern-host-branches: v2
//   pattern-host-single-thread: v3
// sources:
//   - {id: ratchet-code, title: "written for this wiki and run through ratchet", publisher: "ratchet"}
// task:
//   dims: {rows: 512, cols: 1024}
//   tensors:
//     - {name: x, dtype: float32, shape: [rows, cols], role: in}
//     - {name: values, dtype: float32, shape: [rows, "8"], role: out}
//     - {name: indices, dtype: int32, shape: [rows, "8"], role: out}
//   work: {bytes: "4 * rows * cols + 64 * rows", flops: "rows * cols", type: float32}
//   steps: 4
//   timed: 3
// measured:
//   - {step: v0, ms: 1.46, times_v0: 1, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v1, ms: 0.739, times_v0: 1.97, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v2, ms: 0.499, times_v0: 2.92, device: "AMD EPYC, 2 cores", date: 2026-11-23}
// ---

// values[r] and indices[r]: the eight largest of row r, largest first, equal ones by index. NaN counts
// as -infinity; a row shorter than eight is filled up with -infinity and index -1.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>
#ifndef STEP
#define STEP 3
#endif

namespace {
constexpr int kK = 8;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

float key(float x) { return x == x ? x : kLowest; }
}  // namespace

// region reference
extern "C" void reference(const float* x, float* values, int* indices, int rows, int cols) {
  std::vector<int> order(cols);
  for (int r = 0; r < rows; ++r) {
    const float* row = x + static_cast<long>(r) * cols;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(row[a]) > key(row[b]); });
    for (int i = 0; i < kK; ++i) {
      values[r * kK + i] = i < cols ? key(row[order[i]]) : kLowest;
      indices[r * kK + i] = i < cols ? order[i] : -1;
    }
  }
}

#if STEP == 0
// region v0: a library sort of indices
extern "C" void solve(const float* x, float* values, int* indices, int rows, int cols) {
  std::vector<int> order(cols);
  const int found = std::min(kK, cols);
  for (int r = 0; r < rows; ++r) {
    const float* row = x + static_cast<long>(r) * cols;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + found, order.end(), [&](int a, int b) {
      return key(row[a]) != key(row[b]) ? key(row[a]) > key(row[b]) : a < b;
    });
    for (int i = 0; i < kK; ++i) {
      values[r * kK + i] = i < found ? key(row[order[i]]) : kLowest;
      indices[r * kK + i] = i < found ? order[i] : -1;
    }
  }
}
#else
// region list: the best eight so far, in order
namespace {
struct Best {
  float value[kK];
  int index[kK];
  Best() {
    std::fill(value, value + kK, kLowest);
    std::fill(index, index + kK, -1);
  }
  /// Places x before all that are smaller; `filled` entries are there.
  void insert(float x, int at, int filled) {
    int i = std::min(filled, kK - 1);
    for (; i > 0 && value[i - 1] < x; --i) {
      value[i] = value[i - 1];
      index[i] = index[i - 1];
    }
    value[i] = x;
    index[i] = at;
  }
};

#if STEP >= 2
constexpr int kLanes = 16, kBlock = 32;
// region v2: a bound first: eight of the sixteen lanes have a maximum of at least this, so eight values have
float bound_of(const float* row, int cols) {
  float largest[kLanes];
  std::fill(largest, largest + kLanes, kLowest);
  for (int c = 0; c + kLanes <= cols; c += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      largest[lane] = row[c + lane] > largest[lane] ? row[c + lane] : largest[lane];
  float bound = -kLowest;
  for (int i = 0; i < kLanes; ++i) {
    int larger = 0;
    for (int j = 0; j < kLanes; ++j) larger += largest[j] > largest[i];
    if (larger < kK) bound = std::min(bound, largest[i]);
  }
  return bound;
}
#endif

void top_of_row(const float* row, int cols, Best& best) {
  int filled = 0, c = 0;
#if STEP >= 2
  const float bound = bound_of(row, cols);
  if (bound > kLowest)  // about eleven values of a random row reach it; the others are passed over
    for (; c + kBlock <= cols; c += kBlock) {
      int reach = 0;
      for (int i = 0; i < kBlock; ++i) reach += row[c + i] >= bound;  // packed; false for NaN
      if (reach == 0) continue;
      for (int i = c; i < c + kBlock; ++i)
        if (row[i] >= bound && (filled < kK || row[i] > best.value[kK - 1])) {
          best.insert(row[i], i, filled);
          filled = std::min(filled + 1, kK);
        }
    }
#endif
  // region v1: one comparison an element against the eighth
  for (; c < cols && filled < kK; ++c) best.insert(key(row[c]), c, filled++);
  for (; c < cols; ++c)
    if (row[c] > best.value[kK - 1]) best.insert(row[c], c, kK);
}
}  // namespace

// region v3: rows shared among the cores
extern "C" void solve(const float* x, float* values, int* indices, int rows, int cols) {
#if STEP >= 3
#pragma omp parallel for if (static_cast<long>(rows) * cols > 65536)
#endif
  for (int r = 0; r < rows; ++r) {
    Best best;
    top_of_row(x + static_cast<long>(r) * cols, cols, best);
    std::copy(best.value, best.value + kK, values + static_cast<long>(r) * kK);
    std::copy(best.index, best.index + kK, indices + static_cast<long>(r) * kK);
  }
}
#endif
