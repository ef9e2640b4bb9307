#include "kernels/contract/hidden_cases.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "kernels/contract/layout.h"
#include "kernels/contract/where.h"
#include "kernels/contract/work.h"
#include "kernels/source/launch.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

/// Sizes up to this are tile, head or group sizes that kernels are specialized for.
constexpr std::int64_t kFixedSize = 128;

/// Numbers derived from a seed; the same on every machine.
class Draw {
 public:
  explicit Draw(std::string_view seed) : seed_(seed) {}

  /// low … high, inclusive. The bias of the modulo is below 2^-40 for these sizes.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto digest = hmac_sha256(seed_, std::to_string(count_++));
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 8; ++i) bits = bits << 8U | digest[i];
    return low + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  std::string seed_;
  int count_ = 0;
};

std::int64_t power_of_two_factor(std::int64_t value) {
  std::int64_t factor = 1;
  while (factor < kFixedSize && value % (factor * 2) == 0) factor *= 2;
  return factor;
}

/// A size of the given case, its replacement, and the number of dims that have it.
struct Drawn {
  std::int64_t given = 0;
  std::int64_t now = 0;
  int dims = 1;
};

/// The new size of `value` if it follows from those of the smaller sizes.
std::optional<std::int64_t> related(std::int64_t value, const std::vector<Drawn>& smaller) {
  for (const auto& a : smaller)
    for (const auto& b : smaller) {
      const bool two_dims = &a != &b || a.dims > 1;  // 64 * 64 of one dim is chance, no relation
      const bool product = a.given > 1 && b.given > 1 && value % a.given == 0;
      if (two_dims && product && value / a.given == b.given) return a.now * b.now;
    }
  for (const auto& part : smaller)
    if (part.given > kFixedSize && value % part.given == 0) return part.now * (value / part.given);
  return std::nullopt;
}

/// `odd`: an odd multiple of the step.
std::int64_t fresh(std::int64_t value, bool any_size, bool odd, Draw& draw) {
  const auto step = any_size ? 1 : power_of_two_factor(value);
  const auto most = std::max<std::int64_t>(1, value / step);
  // At least a quarter: a much smaller case might only exercise another path of the kernel.
  const auto multiple = draw.between(std::max<std::int64_t>(1, most / 4), most);
  return step * (odd && multiple % 2 == 0 ? multiple - 1 : multiple);
}

/// One of `sizes` that is not above `value`; else `value`.
std::int64_t one_of(std::span<const std::int64_t> sizes, std::int64_t value, Draw& draw) {
  const auto above = std::ranges::upper_bound(sizes, value);
  if (above == sizes.begin()) return value;
  return sizes[static_cast<std::size_t>(draw.between(0, above - sizes.begin() - 1))];
}

/// The names of dims that must take any size.
using AnySize = std::set<std::string>;

/// The dims with every size replaced by `replaced(size, any)`, unless it follows from smaller ones;
/// `any`: whether each dim that has it must take any size.
template <class Replaced>
Dims redrawn(const Dims& dims, const AnySize& free, const Replaced& replaced) {
  struct Shared {
    int dims = 0;
    bool any_size = true;
  };
  std::map<std::int64_t, Shared> sizes;
  for (const auto& [name, value] : dims) {
    auto& shared = sizes[value];
    ++shared.dims;
    shared.any_size = shared.any_size && free.contains(name);
  }
  std::vector<Drawn> drawn;
  for (const auto& [value, shared] : sizes) {  // ascending, so that products find their factors
    const auto now = related(value, drawn);
    drawn.push_back({value, now ? *now : replaced(value, shared.any_size), shared.dims});
  }
  Dims result;
  for (const auto& [name, value] : dims)
    result[name] = std::ranges::find(drawn, value, &Drawn::given)->now;
  return result;
}

/// Whether relations, tensors, work and launch of the contract allow such a size in place of the
/// given one.
bool fits(const Contract& contract, const Dims& dims, const Dims& given) {
  for (const auto& [name, size] : dims)
    if (size < 1 || size > given.at(name)) return false;
  if (!keeps_relations(contract, dims)) return false;
  if (!layout_of(contract, dims) || !work_of(contract, dims)) return false;
  return !contract.launch || check_launch(*contract.launch, dims);
}

constexpr std::array<std::int64_t, 4> kTiny{1, 2, 3, 4};
constexpr std::array<std::int64_t, 25> kEdges{1,   3,   4,   5,   7,   8,   9,  15,  16,
                                              17,  31,  32,  33,  63,  64,  65, 127, 128,
                                              129, 255, 256, 257, 511, 512, 513};

/// Adds cases that fit and are not there yet.
class EdgeCases {
 public:
  EdgeCases(const Contract& contract, const AnySize& free, std::string_view seed)
      : contract_(contract), free_(free), draw_(seed) {}

  void add(const Dims& given, std::span<const std::int64_t> sizes) {
    const auto dims = mended(contract_, redrawn(given, free_, [&](std::int64_t value, bool any) {
                               return any ? one_of(sizes, value, draw_) : value;
                             }));
    if (seen_.insert(dims).second && fits(contract_, dims, given))
      cases_.push_back({dims, 0, true});
  }

  std::vector<Case> taken() { return std::move(cases_); }

 private:
  const Contract& contract_;
  const AnySize& free_;
  Draw draw_;
  std::set<Dims> seen_;
  std::vector<Case> cases_;
};

bool is_odd(std::int64_t size) {
  return size % 2 == 1 && size > 1;
}

/// All dims with `any_size`, else those that are odd in a given case: an odd height says nothing of
/// the number of channels. In older runs one odd dim frees all.
AnySize dims_of_any_size(const Contract& contract) {
  constexpr int kEachDimSince = 7;
  AnySize all, odd;
  for (const auto& given : contract.cases)
    for (const auto& [name, size] : given.dims) {
      all.insert(name);
      if (is_odd(size)) odd.insert(name);
    }
  if (contract.any_size) return all;
  return odd.empty() || contract.judged_since(kEachDimSince) ? odd : all;
}

/// Whether one case has no more factors of two than the contract promises. Of cases drawn freely,
/// a kernel that rounds its grid down to multiples of eight steps was asked about none in one run
/// of 64. Older runs keep the sizes that they were created with.
bool asks_fewest_factors(const Contract& contract) {
  constexpr int kSince = 6;
  return contract.judged_since(kSince);
}

}  // namespace

std::vector<Case> hidden_cases(const Contract& contract, std::string_view seed, int count) {
  std::vector<Case> hidden;
  if (contract.cases.empty()) return hidden;
  Draw draw(seed);
  const auto free = dims_of_any_size(contract);
  const bool odd = asks_fewest_factors(contract);
  std::set<Dims> seen;
  for (const auto& given : contract.cases) seen.insert(given.dims);
  const auto wanted = static_cast<std::size_t>(std::max(count, 0));
  // Eight tries per case: if the rules leave few sizes, more tries only repeat them.
  for (std::size_t tries = 0; hidden.size() < wanted && tries < 8 * wanted; ++tries) {
    const auto& given = contract.cases[tries % contract.cases.size()];
    const auto dims = mended(contract, redrawn(given.dims, free, [&](std::int64_t value, bool any) {
                               if (value <= kFixedSize && !any) return value;
                               return fresh(value, any, odd && hidden.empty(), draw);
                             }));
    if (seen.insert(dims).second && fits(contract, dims, given.dims))
      hidden.push_back({dims, 0, true});
  }
  return hidden;
}

std::vector<Case> edge_cases(const Contract& contract, std::string_view seed) {
  const auto free = dims_of_any_size(contract);
  if (free.empty()) return {};
  EdgeCases edges(contract, free, seed);
  for (const auto& given : contract.cases) {
    edges.add(given.dims, kTiny);
    edges.add(given.dims, kEdges);
  }
  return edges.taken();
}

std::vector<Case> deciding_edge_cases(const Contract& contract, std::string_view seed) {
  constexpr int kAtWidths = 4;
  const auto free = dims_of_any_size(contract);
  if (free.empty()) return {};
  EdgeCases edges(contract, free, seed);
  const auto& given = contract.cases.front().dims;
  for (const auto& size : kTiny) edges.add(given, {&size, 1});
  for (int i = 0; i < kAtWidths; ++i) edges.add(given, kEdges);
  return edges.taken();
}

}  // namespace ratchet
