#pragma once

#include <cstdint>
#include <vector>

#include "kernels/protocol/messages.h"
#include "kernels/protocol/value_recipes.h"
#include "kernels/worker/random.h"

namespace ratchet::worker {

/// What the values of an input may be.
struct Span {
  bool gaussian = false;  ///< any, N(0, 1) as a rule; else those from `low` to `high`
  bool whole = false;     ///< integers only, `high` among them
  double low = 0, high = 1;
};

/// The positive value of a recipe for the edges of a type. Pure.
[[nodiscard]] double edge_of(RecipeKind kind, DType type);

/// The values that a recipe gives to one input, element by element, from the input's seed. Pure:
/// any element on any thread.
class RecipeValues {
 public:
  RecipeValues(const Recipe& recipe, const wire::Buffer& buffer, const Span& span,
               const Philox& random);

  [[nodiscard]] double operator()(std::int64_t index) const;

 private:
  [[nodiscard]] double drawn(std::uint64_t counter) const;
  [[nodiscard]] double from(const Philox::Block& block) const;
  [[nodiscard]] double ramp(std::int64_t index) const;
  /// The edge's value where this element has it, else one as always.
  [[nodiscard]] double at_edge(std::int64_t index, const Philox::Block& block) const;

  Recipe recipe_;
  Span span_;
  Philox random_;
  std::int64_t elements_, row_;
  double zero_ = 0;
  double edge_ = 0;
  std::vector<double> table_;  ///< of `few` and `specials`
};

}  // namespace ratchet::worker
