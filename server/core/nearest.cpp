#include "server/core/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ratchet {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substituted}));
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& names) {
  std::string_view found;
  std::size_t best = std::max<std::size_t>(3, word.size() / 2);
  for (const auto& name : names) {
    const auto distance = edit_distance(word, name);
    if (distance >= best) continue;
    best = distance;
    found = name;
  }
  return found;
}

}  // namespace ratchet
