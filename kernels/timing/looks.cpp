#include "kernels/timing/looks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ratchet {
namespace {

constexpr std::size_t kEvenLooks = 5;
constexpr double kEvenShare = 0.18;  // the least with which eight rounds can decide, and a little
constexpr std::size_t kFirstLook = 8;
constexpr std::size_t kSecondLook = 13;

}  // namespace

Look look_at(std::size_t index, double rate) {
  std::size_t rounds = kFirstLook;
  std::size_t next = kSecondLook;
  for (std::size_t i = 0; i < index; ++i) rounds = std::exchange(next, rounds + next);
  if (index == 0) rounds = std::clamp(fewest_rounds(kEvenShare * rate), rounds, next - 1);
  if (index < kEvenLooks) return {rounds, kEvenShare};
  const double rest = 1 - kEvenShare * static_cast<double>(kEvenLooks);
  return {rounds, rest * std::pow(0.5, static_cast<double>(index - kEvenLooks + 1))};
}

Look look_after(std::size_t rounds, double rate) {
  std::size_t index = 0;
  while (look_at(index, rate).rounds < rounds) ++index;
  return look_at(index, rate);
}

}  // namespace ratchet
