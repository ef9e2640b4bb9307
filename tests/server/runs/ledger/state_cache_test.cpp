#include "server/runs/ledger/state_cache.h"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <memory>

namespace ratchet {
namespace {

StatePtr state_of(const char* run, std::int64_t sequence) {
  const auto state = std::make_shared<RunState>();
  state->run = RunId{run};
  state->sequence = sequence;
  return state;
}

TEST_CASE("the least recently used run is dropped first", "[runs]") {
  StateCache cache(2);
  cache.keep(state_of("a", 1));
  cache.keep(state_of("b", 1));
  REQUIRE(cache.find(RunId{"a"}));  // b is the older one now

  cache.keep(state_of("c", 1));

  CHECK(cache.find(RunId{"a"}));
  CHECK_FALSE(cache.find(RunId{"b"}));
  CHECK(cache.find(RunId{"c"}));
}

TEST_CASE("a state read earlier does not replace a later one", "[runs]") {
  StateCache cache;
  cache.keep(state_of("a", 7));

  cache.keep(state_of("a", 3));

  CHECK(cache.find(RunId{"a"})->sequence == 7);
}

TEST_CASE("a later state takes the place of an earlier one", "[runs]") {
  StateCache cache(2);
  cache.keep(state_of("b", 1));
  cache.keep(state_of("a", 1));

  cache.keep(state_of("a", 2));

  CHECK(cache.find(RunId{"a"})->sequence == 2);
  CHECK(cache.find(RunId{"b"}));
}

TEST_CASE("a state may be used after the cache is destroyed", "[runs]") {
  StatePtr reader;
  {
    StateCache cache;
    reader = cache.keep(state_of("a", 1));
  }
  CHECK(reader->sequence == 1);
}

}  // namespace
}  // namespace ratchet
