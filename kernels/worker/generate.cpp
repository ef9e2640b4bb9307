#include "kernels/worker/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/worker/init_text.h"
#include "kernels/worker/parallel.h"
#include "kernels/worker/random.h"
#include "kernels/worker/recipe_values.h"
#include "kernels/worker/small_float.h"

namespace ratchet::worker {
namespace {

constexpr std::uint32_t kGuardStream = 0xFFFFFFFFU;

enum class Shape { normal, shifted, large, small, special, sequence, extreme };

/// Number of non-negative values of an integer type.
double countable(DType type) {
  if (type == DType::boolean) return 2;
  const bool is_signed =
      type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
  return std::ldexp(1.0, static_cast<int>(8 * size_of(type)) - (is_signed ? 1 : 0));
}

void fill_bytes(std::span<std::byte> bytes, const Philox& random, std::uint64_t first_block) {
  const auto blocks = static_cast<std::int64_t>((bytes.size() + 15) / 16);
  parallel_for(blocks, kLeastPart, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block) {
      const auto drawn = random(first_block + static_cast<std::uint64_t>(block));
      const auto at = static_cast<std::size_t>(block) * 16;
      std::memcpy(bytes.data() + at, drawn.data(), std::min<std::size_t>(16, bytes.size() - at));
    }
  });
}

/// A buffer being filled, with its random numbers.
struct Target {
  std::byte* data;
  const wire::Buffer& buffer;
  Philox random;
  Shape shape;
  Normal normal;
  std::optional<Recipe> recipe;

  void set(std::int64_t index, double value) const {
    set_element(data, buffer.dtype, index, value);
  }
};

/// Box-Muller, four values per random block.
template <class Real>
void fill_normal(const Target& target, Real mean, Real deviation) {
  const std::int64_t count = target.buffer.elements;
  parallel_for((count + 3) / 4, kLeastPart / 4, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block) {
      const auto drawn = target.random(static_cast<std::uint64_t>(block));
      for (std::int64_t pair = 0; pair < 2; ++pair) {
        const auto at = static_cast<std::size_t>(pair) * 2;
        // In (0, 1], so that the logarithm is finite.
        const Real u = (static_cast<Real>(drawn[at]) + Real(1)) * Real(0x1p-32);
        const Real angle =
            Real(2) * std::numbers::pi_v<Real> * static_cast<Real>(drawn[at + 1]) * Real(0x1p-32);
        const Real radius = deviation * std::sqrt(Real(-2) * std::log(std::min(u, Real(1))));
        const std::int64_t index = block * 4 + pair * 2;
        if (index < count) target.set(index, static_cast<double>(mean + radius * std::cos(angle)));
        if (index + 1 < count)
          target.set(index + 1, static_cast<double>(mean + radius * std::sin(angle)));
      }
    }
  });
}

void fill_gaussian(const Target& target) {
  const auto [mean, deviation] = target.normal;
  if (target.buffer.dtype == DType::f64) return fill_normal<double>(target, mean, deviation);
  fill_normal<float>(target, static_cast<float>(mean), static_cast<float>(deviation));
}

/// Sets every element to `value(index, random fraction in [0, 1))`.
template <class Value>
void fill_each(const Target& target, const Value& value) {
  parallel_for(target.buffer.elements, kLeastPart, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto drawn = target.random(static_cast<std::uint64_t>(i));
      const double fraction =
          (static_cast<double>(drawn[0]) + static_cast<double>(drawn[1]) * 0x1p-32) * 0x1p-32;
      target.set(i, value(i, std::min(fraction, 1 - 0x1p-53)));
    }
  });
}

void fill_uniform(const Target& target, double low, double high) {
  const bool floating = is_floating(target.buffer.dtype);
  fill_each(target, [&](std::int64_t, double fraction) {
    return floating ? low + fraction * (high - low) : std::floor(low + fraction * (high - low + 1));
  });
}

/// Values of N(0, 1) from a secret table in a secret order: much cheaper than drawing each, where
/// the shape of the values matters and not their number.
class Deviates {
 public:
  explicit Deviates(const Philox& random) {
    const auto key = random(1ULL << 41U);
    key_ = std::uint64_t{key[0]} << 32U | key[1];
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const auto drawn = random((1ULL << 42U) + i);
      const double u = (static_cast<double>(drawn[0]) + 1) * 0x1p-32;
      table_[i] = std::sqrt(-2 * std::log(u)) *
                  std::cos(2 * std::numbers::pi * static_cast<double>(drawn[1]) * 0x1p-32);
    }
  }

  [[nodiscard]] double operator()(std::int64_t index) const { return table_[mixed(index) % kSize]; }
  [[nodiscard]] bool coin(std::int64_t index) const { return mixed(index) >> 63U != 0; }

 private:
  static constexpr std::size_t kSize = 4096;

  [[nodiscard]] std::uint64_t mixed(std::int64_t index) const {
    std::uint64_t x = (static_cast<std::uint64_t>(index) + key_) * 0x9E3779B97F4A7C15ULL;
    x = (x ^ x >> 30U) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ x >> 27U) * 0x94D049BB133111EBULL;
    return x ^ x >> 31U;
  }

  std::uint64_t key_ = 0;
  std::array<double, kSize> table_{};
};

/// Sets every element to `value(row, place in the row, index)`.
template <class Value>
void fill_rows(const Target& target, const Value& value) {
  const std::int64_t length = row_of(target.buffer);
  parallel_for(target.buffer.elements, kLeastPart, [&](std::int64_t first, std::int64_t last) {
    std::int64_t row = first / length, place = first % length;
    for (std::int64_t i = first; i < last; ++i) {
      target.set(i, value(row, place, i));
      if (++place < length) continue;
      place = 0;
      ++row;
    }
  });
}

void fill_special(const Target& target) {
  const Deviates deviates(target.random);
  const std::int64_t length = row_of(target.buffer);
  const auto turn = static_cast<std::int64_t>(target.random.below(1ULL << 40U, 8));
  const double subnormal = subnormal_of(target.buffer.dtype);
  fill_rows(target, [&](std::int64_t row, std::int64_t place, std::int64_t i) {
    switch ((row + turn) % 8) {
      case 0:
        return 0.0;
      case 1:
        return deviates.coin(i) ? 0.0 : -0.0;
      case 2:
        return subnormal * deviates(i);
      case 3:
        return std::round(4 * deviates(i)) / 2;
      case 4:
        return 0x1p-12 * deviates(i);
      case 5:
        return place == row % length ? 1.0 : 0.0;
      default:
        return deviates(i);
    }
  });
}

void fill_sequence(const Target& target) {
  const auto length = static_cast<double>(row_of(target.buffer));
  const auto turn = static_cast<std::int64_t>(target.random.below(1ULL << 40U, 8));
  fill_rows(target, [&](std::int64_t row, std::int64_t place, std::int64_t) {
    switch ((row + turn) % 4) {
      case 0:
        return 4 * static_cast<double>(place) / length - 2;
      case 1:
        return 2 - 4 * static_cast<double>(place) / length;
      case 2:
        // A maximum that starts at zero is wrong only where a whole row is negative.
        return ((row + turn) / 4 % 2 == 0 ? 0.25 : -0.25) * static_cast<double>(row % 7 + 1);
      default:
        return place % 2 == 0 ? 1.0 : -1.0;
    }
  });
}

/// Magnitudes of 90 to 120, of either sign: their exponentials overflow in single precision.
void fill_extreme(const Target& target) {
  fill_each(target, [&](std::int64_t, double fraction) {
    const double place = 2 * fraction - 1;
    return place < 0 ? 30 * place - 90 : 30 * place + 90;
  });
}

/// Integers that are values, not indices: negative ones, and the ends of the type.
void fill_integers(const Target& target, double low, double high) {
  fill_each(target, [&](std::int64_t i, double fraction) {
    const double uniform = std::floor(low + fraction * (high - low + 1));
    switch (target.shape) {
      case Shape::shifted:
        return std::floor(low + std::floor(fraction * 4) / 3 * (high - low));
      case Shape::large:
        return fraction < 0.5 ? low : high;
      case Shape::small:
        return std::clamp(std::floor(fraction * 7) - 3, low, high);
      case Shape::special: {
        const std::array<double, 5> few{low, -1, 0, 1, high};
        return i % 2 == 0 ? uniform
                          : std::clamp(few[static_cast<std::size_t>(fraction * 5)], low, high);
      }
      case Shape::sequence:
        return std::floor(low + static_cast<double>(i % 256) / 256 * (high - low + 1));
      default:
        return uniform;
    }
  });
}

void fill_indices(const Target& target, double limit) {
  const double bound = std::min(std::max(limit, 1.0), countable(target.buffer.dtype));
  // A few hot values provoke contention in atomics and caches; the ends expose off-by-one errors.
  const double hot = std::min(bound, 4.0);
  const std::int64_t count = target.buffer.elements;
  fill_each(target, [&](std::int64_t i, double fraction) {
    if (target.shape == Shape::shifted)
      return std::floor(std::floor(fraction * hot) * (bound / hot));
    if (target.shape == Shape::large) return fraction < 0.5 ? 0 : bound - 1;
    if (target.shape == Shape::small || target.shape == Shape::sequence)
      return std::floor(static_cast<double>(i) * bound / static_cast<double>(count));
    return std::floor(fraction * bound);
  });
}

void fill_permutation(const Target& target) {
  const std::int64_t count = target.buffer.elements;
  if (target.shape == Shape::shifted) {
    for (std::int64_t i = 0; i < count; ++i) target.set(i, static_cast<double>(count - 1 - i));
    return;
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i;
  if (target.shape == Shape::large)
    std::rotate(order.begin(), order.begin() + 1, order.end());
  else if (target.shape == Shape::normal || target.shape == Shape::special)
    for (auto i = static_cast<std::uint64_t>(count); i > 1; --i)
      std::swap(order[i - 1], order[target.random.below(i, i)]);
  for (std::int64_t i = 0; i < count; ++i)
    target.set(i, static_cast<double>(order[static_cast<std::size_t>(i)]));
}

void fill_offsets(const Target& target, double total) {
  const auto count = static_cast<std::size_t>(target.buffer.elements);
  std::vector<double> offsets(count, 0);
  const auto last = static_cast<std::uint64_t>(std::max(total, 0.0));
  const auto full_row = target.random.below(0, std::max<std::uint64_t>(count, 1));
  for (std::size_t i = 1; i + 1 < count; ++i) {
    if (target.shape == Shape::shifted)
      offsets[i] = i > full_row ? total : 0;
    else if (target.shape == Shape::large)
      offsets[i] = std::floor(total * static_cast<double>(i - i % 2) / static_cast<double>(count));
    else if (target.shape == Shape::small || target.shape == Shape::sequence)
      offsets[i] = std::floor(total * static_cast<double>(i) / static_cast<double>(count));
    else
      offsets[i] = static_cast<double>(target.random.below(i, last + 1));
  }
  if (count > 1) offsets[count - 1] = total;
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t i = 0; i < count; ++i) target.set(static_cast<std::int64_t>(i), offsets[i]);
}

/// What an input's values may be; empty for those whose elements belong together.
std::optional<Span> span_of(const InitText& init, DType type, std::int64_t index_limit) {
  const auto& numbers = init.numbers;
  const bool floating = is_floating(type);
  const auto below = [&](double limit) {
    return Span{false, true, 0, std::min(std::max(limit, 1.0), countable(type)) - 1};
  };
  if (init.kind == "normal" && floating) return Span{.gaussian = true};
  if (init.kind == "normal") return below(static_cast<double>(index_limit));
  if (init.kind == "indices" && numbers.size() == 1) return below(numbers[0]);
  if ((init.kind == "uniform" || init.kind == "integers") && numbers.size() == 2)
    return Span{false, !floating, numbers[0], numbers[1]};
  return std::nullopt;
}

/// False: this recipe has nothing of its own for this input.
bool fill_by_recipe(const Target& target, const InitText& init, std::int64_t index_limit) {
  const auto span = span_of(init, target.buffer.dtype, index_limit);
  if (!target.recipe || !span) return false;
  const RecipeValues values(*target.recipe, target.buffer, *span, target.random);
  parallel_for(target.buffer.elements, kLeastPart, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) target.set(i, values(i));
  });
  return true;
}

Status fill_input(const Target& target, std::int64_t index_limit) {
  const auto init = parse_init_text(target.buffer.init);
  const auto wrong = [&] {
    return invalid_argument(
        fmt::format("{}: unknown init \"{}\"", target.buffer.name, target.buffer.init),
        "Use normal, uniform(a,b), indices(n), permutation or offsets(n).");
  };
  if (!init) return wrong();
  if (fill_by_recipe(target, *init, index_limit)) return {};
  const auto& numbers = init->numbers;
  const bool floating = init->kind == "normal" && is_floating(target.buffer.dtype);
  if (floating && target.shape == Shape::special)
    fill_special(target);
  else if (floating && target.shape == Shape::sequence)
    fill_sequence(target);
  else if (floating && target.shape == Shape::extreme && target.buffer.dtype == DType::f16)
    fill_extreme(target);
  else if (floating)
    fill_gaussian(target);
  else if (init->kind == "normal")
    fill_indices(target, static_cast<double>(index_limit));
  else if (init->kind == "uniform" && numbers.size() == 2)
    fill_uniform(target, numbers[0], numbers[1]);
  else if (init->kind == "integers" && numbers.size() == 2)
    fill_integers(target, numbers[0], numbers[1]);
  else if (init->kind == "indices" && numbers.size() == 1)
    fill_indices(target, numbers[0]);
  else if (init->kind == "zeros")
    std::fill_n(target.data, target.buffer.bytes(), std::byte{0});
  else if (init->kind == "permutation")
    fill_permutation(target);
  else if (init->kind == "offsets" && numbers.size() == 1)
    fill_offsets(target, numbers[0]);
  else
    return wrong();
  return {};
}

/// Whether each element is drawn for itself, whatever the others are.
bool is_drawn_alone(std::string_view init) {
  const auto text = parse_init_text(init);
  return text && text->kind != "permutation" && text->kind != "offsets";
}

/// Repeats the first `known` bytes over all of them.
void repeat(std::span<std::byte> bytes, std::size_t known) {
  while (known < bytes.size()) {
    const auto more = std::min(known, bytes.size() - known);
    std::memcpy(bytes.data() + known, bytes.data(), more);
    known += more;
  }
}

/// What inputs whose elements belong together get under a recipe.
Shape shape_under(const Recipe& recipe) {
  if (recipe.kind == RecipeKind::ascending) return Shape::small;
  const bool turned = recipe.kind == RecipeKind::descending || recipe.kind == RecipeKind::few;
  return turned ? Shape::shifted : Shape::normal;
}

Result<Shape> shape_of(const std::string& distribution) {
  if (const auto recipe = recipe_of(distribution)) return shape_under(*recipe);
  if (distribution == "normal") return Shape::normal;
  if (distribution == "shifted") return Shape::shifted;
  if (distribution == "large") return Shape::large;
  if (distribution == "small") return Shape::small;
  if (distribution == "special") return Shape::special;
  if (distribution == "sequence") return Shape::sequence;
  if (distribution == "extreme") return Shape::extreme;
  return invalid_argument("unknown distribution \"" + distribution + "\"",
                          "Use normal, shifted, large, small, special, sequence, extreme, or a "
                          "recipe such as zeros(0.9).");
}

}  // namespace

std::int64_t row_of(const wire::Buffer& buffer) {
  if (buffer.shape.size() > 1) return std::max<std::int64_t>(buffer.shape.back(), 1);
  return std::max<std::int64_t>(buffer.elements / 8, 1);
}

double subnormal_of(DType type) {
  if (type == DType::f16) return 0x1p-20;
  return size_of(type) == 1 ? 0x1p-8 : 0x1p-135;
}

Status generate(std::span<std::byte> arena, const wire::Generate& plan) {
  const bool throwaway = plan.distribution == "throwaway";
  const std::string distribution = throwaway ? "normal" : plan.distribution;
  const auto shape = shape_of(distribution);
  if (!shape) return shape.error();
  std::int64_t end = 0;  // end of the filled part
  const Philox guard(plan.seed, kGuardStream);
  const auto fill_guard = [&](std::int64_t from, std::int64_t to) {
    fill_bytes(arena.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)),
               guard, static_cast<std::uint64_t>(from));
  };
  std::uint32_t stream = 0;
  for (const auto& buffer : plan.layout.buffers) {
    fill_guard(end, buffer.offset);
    end = buffer.offset + buffer.bytes();
    const Philox random(plan.seed, stream++);
    const auto bytes = arena.subspan(static_cast<std::size_t>(buffer.offset),
                                     static_cast<std::size_t>(buffer.bytes()));
    if (buffer.role == Role::out) {
      fill_bytes(bytes, random, 0);
      continue;
    }
    if (std::ranges::find(plan.given, buffer.name) != plan.given.end()) continue;
    const auto normal = normal_of(distribution, buffer.dtype);
    if (!normal) return normal.error();
    auto drawn = buffer;
    if (throwaway && is_drawn_alone(buffer.init))
      drawn.elements = std::min(buffer.elements, kRepeated);
    const Target target{bytes.data(), drawn, random, *shape, *normal, recipe_of(distribution)};
    if (auto filled = fill_input(target, plan.index_limit); !filled) return filled;
    repeat(bytes, static_cast<std::size_t>(drawn.bytes()));
  }
  fill_guard(end, plan.layout.bytes);
  return {};
}

}  // namespace ratchet::worker
