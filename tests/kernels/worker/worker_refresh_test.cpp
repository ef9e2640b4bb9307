#include "kernels/worker/refresh.h"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/worker/small_float.h"

using namespace ratchet;
using namespace ratchet::worker;

namespace {

constexpr std::int64_t kRefreshedElements = 10'000;
const std::string kRefreshSeed(32, 'b');

/// Inputs x (0, 1, 2, …) and order (a permutation), and an output.
struct Arena {
  wire::Refresh plan;
  std::vector<std::byte> sent, refreshed;

  explicit Arena(int uses) {
    plan.layout.buffers = {
        {"x", DType::f32, Role::in, "normal", 512, kRefreshedElements},
        {"order", DType::i32, Role::in, "permutation", 65536, kRefreshedElements},
        {"y", DType::f32, Role::out, "normal", 131072, kRefreshedElements}};
    plan.layout.bytes = 262144;
    plan.uses = {kRefreshSeed, uses};
    sent.assign(262144, std::byte{7});
    for (std::int64_t i = 0; i < kRefreshedElements; ++i)
      set_element(sent.data() + 512, DType::f32, i, static_cast<double>(i));
    refreshed.resize(sent.size());
    refresh(plan, sent, refreshed);
  }

  [[nodiscard]] std::vector<std::int64_t> changed() const {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < kRefreshedElements; ++i)
      if (element(sent.data() + 512, DType::f32, i) !=
          element(refreshed.data() + 512, DType::f32, i))
        places.push_back(i);
    return places;
  }
};

}  // namespace

TEST_CASE("every call changes a few elements of an input, and others than the call before",
          "[worker]") {
  const auto once = Arena(1).changed();
  const auto twice = Arena(2).changed();

  // Four a call; the same element twice among 10,000 comes once in thousands of seeds.
  CHECK(once.size() == 4);
  CHECK(twice.size() == 8);
}

TEST_CASE("changed elements take values of the same input", "[worker]") {
  const Arena arena(5);

  for (const auto place : arena.changed()) {
    const double value = element(arena.refreshed.data() + 512, DType::f32, place);
    CHECK(value == static_cast<double>(static_cast<std::int64_t>(value)));
    CHECK(value < kRefreshedElements);
  }
}

TEST_CASE("permutations, outputs and guards stay as they were sent", "[worker]") {
  const Arena arena(20);
  const std::size_t after_x = 512 + 4 * kRefreshedElements;

  CHECK(std::equal(arena.sent.begin() + after_x, arena.sent.end(),
                   arena.refreshed.begin() + after_x));
  CHECK(std::equal(arena.sent.begin(), arena.sent.begin() + 512, arena.refreshed.begin()));
}

TEST_CASE("the worker's incremental changes equal the judge's combined ones", "[worker]") {
  // So few elements that later changes take values which earlier ones put there.
  Arena arena(0);
  arena.plan.layout.buffers.front().elements = 12;
  arena.plan.uses = {kRefreshSeed, 9};
  refresh(arena.plan, arena.sent, arena.refreshed);
  auto step_by_step = arena.sent;

  for (int use = 0; use < 9; ++use) {
    const auto before = step_by_step;
    for (const auto& move : moves_of(arena.plan.layout, kRefreshSeed, use))
      std::copy_n(before.begin() + move.from, move.bytes, step_by_step.begin() + move.to);
  }

  CHECK(step_by_step == arena.refreshed);
  CHECK(step_by_step != arena.sent);
}

TEST_CASE("without a seed nothing changes", "[worker]") {
  Arena arena(0);
  arena.plan.uses = {"", 3};
  refresh(arena.plan, arena.sent, arena.refreshed);

  CHECK(moves_of(arena.plan.layout, "", 0).empty());
  CHECK(arena.refreshed == arena.sent);
}
