#include "kbs/corpus/ordered_pipeline.h"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

namespace ratchet::kbs {
namespace {

using namespace std::chrono_literals;

struct Number {
  int given = 0;
  int squared = 0;
};

TEST_CASE("items come back worked on and in the order they were given", "[ahead]") {
  Ahead<Number> ahead(3, [](Number& number) {
    if (number.given % 7 == 0) std::this_thread::sleep_for(1ms);  // some overtake others
    number.squared = number.given * number.given;
  });
  int next = 0;
  for (int taken = 0; taken < 500; ++taken) {
    while (next < 500 && ahead.waiting() < 20) ahead.give({next++, 0});
    const auto number = ahead.next();
    REQUIRE(number.given == taken);
    REQUIRE(number.squared == taken * taken);
  }
  CHECK(ahead.waiting() == 0);
}

TEST_CASE("who waits for an item works on those behind it", "[ahead]") {
  std::atomic<bool> started = false;
  std::atomic<int> done = 0;
  std::mutex mutex;
  std::set<std::thread::id> workers;
  Ahead<int> ahead(1, [&](int& item) {
    {
      const std::lock_guard lock(mutex);
      workers.insert(std::this_thread::get_id());
    }
    if (item == 0) {
      started = true;
      while (done < 2) std::this_thread::yield();  // ends only when others were worked on
    }
    ++done;
  });
  ahead.give(0);
  while (!started) std::this_thread::yield();
  ahead.give(1);
  ahead.give(2);

  CHECK(ahead.next() == 0);
  CHECK(ahead.next() == 1);
  CHECK(ahead.next() == 2);
  CHECK(workers.contains(std::this_thread::get_id()));
  CHECK(workers.size() == 2);
}

TEST_CASE("without threads the taker does all the work", "[ahead]") {
  Ahead<Number> ahead(0, [](Number& number) { number.squared = number.given * number.given; });
  ahead.give({3, 0});
  ahead.give({4, 0});
  CHECK(ahead.next().squared == 9);
  CHECK(ahead.next().squared == 16);
}

TEST_CASE("items that nobody takes are no reason to wait at the end", "[ahead]") {
  std::atomic<int> worked = 0;
  {
    Ahead<int> ahead(2, [&](int&) {
      std::this_thread::sleep_for(1ms);
      ++worked;
    });
    for (int i = 0; i < 1000; ++i) ahead.give(i);
  }
  CHECK(worked < 1000);
}

}  // namespace
}  // namespace ratchet::kbs
