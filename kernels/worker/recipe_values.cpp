#include "kernels/worker/recipe_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/worker/generate.h"
#include "kernels/worker/init_text.h"

namespace ratchet::worker {
namespace {

// Counters that no element has.
constexpr std::uint64_t kTable = 1ULL << 43U;
constexpr std::uint64_t kRows = 1ULL << 44U;

double fraction(std::uint32_t bits) {
  return static_cast<double>(bits) * 0x1p-32;
}

/// The exponent as far as values of the type, and their squares in a short sum, are finite and not
/// all zero.
double exponent_within(double exponent, DType type) {
  if (size_of(type) == 1) return std::clamp(exponent, -3.0, 1.0);
  return type == DType::f16 ? std::clamp(exponent, -8.0, 4.0) : exponent;
}

double largest_of(DType type) {
  switch (type) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.FEp127;
    case DType::f8_e4m3:
      return 448;
    case DType::f8_e5m2:
      return 57344;
    case DType::f32:
      return std::numeric_limits<float>::max();
    default:
      return 0x1p500;
  }
}

std::vector<double> specials_of(const Span& span, DType type) {
  if (span.gaussian) {
    const auto large = normal_of("large", type);
    return {0.0, -0.0, 1, -1, subnormal_of(type), large ? large->deviation : 1};
  }
  std::vector<double> values{span.low, span.whole ? span.high : span.low, -1, 0, 1};
  for (auto& value : values) value = std::clamp(value, span.low, span.high);
  return values;
}

}  // namespace

double edge_of(RecipeKind kind, DType type) {
  if (kind == RecipeKind::nan) return std::numeric_limits<double>::quiet_NaN();
  // The one floating-point type without an infinity saturates.
  return kind == RecipeKind::infinite ? std::numeric_limits<double>::infinity() : largest_of(type);
}

RecipeValues::RecipeValues(const Recipe& recipe, const wire::Buffer& buffer, const Span& span,
                           const Philox& random)
    : recipe_(recipe),
      span_(span),
      random_(random),
      elements_(buffer.elements),
      row_(row_of(buffer)),
      zero_(span.gaussian ? 0 : std::clamp(0.0, span.low, span.high)) {
  if (recipe.kind == RecipeKind::scaled)
    recipe_.amount = exponent_within(recipe.amount, buffer.dtype);
  if (is_edge(recipe.kind)) edge_ = edge_of(recipe.kind, buffer.dtype);
  if (recipe.kind == RecipeKind::specials) table_ = specials_of(span, buffer.dtype);
  if (recipe.kind != RecipeKind::few) return;
  const auto count = static_cast<std::uint64_t>(std::max(recipe.amount, span.whole ? 1.0 : 2.0));
  for (std::uint64_t i = 0; i < count; ++i) table_.push_back(drawn(kTable + i));
}

double RecipeValues::drawn(std::uint64_t counter) const {
  return from(random_(counter));
}

double RecipeValues::from(const Philox::Block& block) const {
  if (span_.gaussian)
    return std::sqrt(-2 * std::log((static_cast<double>(block[0]) + 1) * 0x1p-32)) *
           std::cos(2 * std::numbers::pi * fraction(block[1]));
  const double part = fraction(block[0]);
  return span_.whole ? std::floor(span_.low + part * (span_.high - span_.low + 1))
                     : span_.low + part * (span_.high - span_.low);
}

double RecipeValues::ramp(std::int64_t index) const {
  const double part = (static_cast<double>(index) + 0.5) / static_cast<double>(elements_);
  // All of one sign: a sum that cancels would say more about its order than about the kernel.
  if (span_.gaussian) return 0.25 + 3.75 * part;
  return span_.whole ? std::floor(span_.low + part * (span_.high - span_.low + 1))
                     : span_.low + part * (span_.high - span_.low);
}

double RecipeValues::at_edge(std::int64_t index, const Philox::Block& block) const {
  const auto row = index / row_;
  const auto drawn = random_(kRows + static_cast<std::uint64_t>(row));
  const bool chosen = row == 0 || drawn[0] % 2 == 0;
  if (!span_.gaussian || !chosen || index % row_ != drawn[1] % row_) return from(block);
  return drawn[2] % 2 == 0 ? edge_ : -edge_;
}

double RecipeValues::operator()(std::int64_t index) const {
  const auto block = random_(static_cast<std::uint64_t>(index));
  const auto of_table = [&] {
    return table_[static_cast<std::size_t>(fraction(block[3]) *
                                           static_cast<double>(table_.size()))];
  };
  switch (recipe_.kind) {
    case RecipeKind::zeros:
      return fraction(block[2]) < recipe_.amount ? zero_ : from(block);
    case RecipeKind::empty_rows: {
      const auto row = random_(kRows + static_cast<std::uint64_t>(index / row_));
      return fraction(row[2]) < recipe_.amount ? zero_ : from(block);
    }
    case RecipeKind::few:
      return of_table();
    case RecipeKind::ascending:
      return ramp(index);
    case RecipeKind::descending:
      return ramp(elements_ - 1 - index);
    case RecipeKind::negative:
      return span_.gaussian ? -std::fabs(from(block)) : from(block);
    case RecipeKind::ties:
      return span_.gaussian ? std::round(2 * from(block)) / 2 : from(block);
    case RecipeKind::specials:
      return fraction(block[2]) < recipe_.amount ? of_table() : from(block);
    case RecipeKind::scaled:
      return span_.gaussian ? std::ldexp(from(block), static_cast<int>(recipe_.amount))
                            : from(block);
    case RecipeKind::largest:
    case RecipeKind::infinite:
    case RecipeKind::nan:
      return at_edge(index, block);
  }
  return from(block);
}

}  // namespace ratchet::worker
