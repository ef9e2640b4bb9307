#include "server/runs/ledger/state_cache.h"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <memory>

namespace ratchet {
namespace {

std::unique_ptr<RunState> state_of(const char* run, std::int64_t sequence) {
  auto state = std::make_unique<RunState>();
  state->run = RunId{run};
  state->sequence = sequence;
  return state;
}

TEST_CASE("the run that was not used for longest is forgotten first", "[runs]") {
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

TEST_CASE("a later state replaces an earlier one and takes no further place", "[runs]") {
  StateCache cache(2);
  cache.keep(state_of("b", 1));
  cache.keep(state_of("a", 1));

  cache.keep(state_of("a", 2));

  CHECK(cache.find(RunId{"a"})->sequence == 2);
  CHECK(cache.find(RunId{"b"}));
}

TEST_CASE("a state is spare when a later one took its place and nobody reads it", "[runs]") {
  StateCache cache;
  auto first = cache.keep(state_of("a", 1));
  CHECK_FALSE(cache.take_spare(RunId{"a"}));  // it is the newest

  cache.keep(state_of("a", 2));
  CHECK_FALSE(cache.take_spare(RunId{"a"}));  // it is read
  const auto* const address = first.get();
  first.reset();

  const auto spare = cache.take_spare(RunId{"a"});
  REQUIRE(spare.get() == address);
  CHECK(spare->sequence == 1);
  CHECK_FALSE(cache.take_spare(RunId{"a"}));  // it has an owner now
  CHECK(cache.find(RunId{"a"})->sequence == 2);
}

TEST_CASE("of several spare states of a run the latest is given", "[runs]") {
  StateCache cache;
  auto first = cache.keep(state_of("a", 1));
  cache.keep(state_of("a", 2));
  cache.keep(state_of("a", 3));
  first.reset();

  CHECK(cache.take_spare(RunId{"a"})->sequence == 2);
}

TEST_CASE("a state may be read for longer than the cache lives", "[runs]") {
  StatePtr reader;
  {
    StateCache cache;
    reader = cache.keep(state_of("a", 1));
  }
  CHECK(reader->sequence == 1);
}

}  // namespace
}  // namespace ratchet
