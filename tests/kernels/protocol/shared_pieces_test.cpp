#include "kernels/protocol/shared_pieces.h"

#include <catch2/catch_test_macros.hpp>
#include <numeric>

using ratchet::wire::pieces_of;

namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

std::int64_t sum_of(const std::vector<std::int64_t>& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), std::int64_t{0});
}

}  // namespace

TEST_CASE("small memory is cut into equal pieces, large memory only at its beginning",
          "[shared pieces]") {
  CHECK(pieces_of(16 * kMebi, 8) == std::vector<std::int64_t>(8, 2 * kMebi));
  CHECK(pieces_of(3 * kMebi, 8) == std::vector<std::int64_t>{4 * kMebi});
  CHECK(pieces_of(16 * kMebi, 3) == std::vector<std::int64_t>(3, 6 * kMebi));
  const auto large = pieces_of(500 * kMebi, 20);
  REQUIRE(large.size() == 9);
  CHECK(large.front() == 8 * kMebi);
  CHECK(large.back() == 436 * kMebi);
  CHECK(pieces_of(500 * kMebi, 1) == std::vector<std::int64_t>{500 * kMebi});
}

TEST_CASE("whoever counts the pieces knows their sizes", "[shared pieces]") {
  for (const std::int64_t bytes : {1L, 5 * kMebi + 1, 159 * kMebi, 161 * kMebi, 9000 * kMebi})
    for (std::int64_t most = 1; most < 12; ++most) {
      const auto pieces = pieces_of(bytes, most);
      CAPTURE(bytes, most);
      CHECK(sum_of(pieces) >= bytes);
      CHECK(std::ssize(pieces) <= most);
      CHECK(pieces_of(bytes, std::ssize(pieces)) == pieces);
    }
}
