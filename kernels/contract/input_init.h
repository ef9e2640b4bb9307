#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// How an input buffer is filled.
enum class InitKind {
  normal,       ///< the distribution of the check; integers: 0 … smallest dim − 1
  uniform,      ///< uniform(low, high)
  indices,      ///< indices(n): integers 0 … n−1, including adversarial ones
  permutation,  ///< 0 … elements−1 in random order
  offsets,      ///< offsets or offsets(n): first 0, non-decreasing, last n
  zeros,        ///< an output that the kernel adds onto
};

/// A parsed `init`, its arguments evaluated for one case.
struct Init {
  InitKind kind = InitKind::normal;
  double low = 0;          ///< uniform
  double high = 1;         ///< uniform
  std::int64_t limit = 0;  ///< indices: exclusive bound; offsets: last value
};

/// The init of outputs that start at zero.
inline constexpr std::string_view kZerosInit = "zeros";

/// Parses the init grammar: `normal`, `uniform(a,b)`, `indices(n)`, `permutation`, `offsets(n)`,
/// `zeros`, with expressions over `names` as arguments. `given` (a user's function makes the
/// contents) parses as the changes allowed to them: none for integers. `offsets` alone ends at
/// `limit`.
/// Pure. Errors: `invalid_argument` naming the text and the grammar; integer inits on floating
/// tensors; empty ranges.
[[nodiscard]] Result<Init> parse_init(std::string_view text, DType dtype, const Dims& names,
                                      std::int64_t limit);

/// The form sent to workers, numbers only: "normal", "uniform(-1,1)", "indices(4096)",
/// "permutation", "offsets(4096)", "zeros".
[[nodiscard]] std::string canonical(const Init& init);

/// Exclusive bound of integer inputs whose init gives none: the smallest dim, at least 1.
[[nodiscard]] std::int64_t index_limit(const Dims& dims);

}  // namespace ratchet
