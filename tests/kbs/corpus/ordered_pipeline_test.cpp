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

TEST_CASE("items are processed and returned in the order in which they were pushed", "[pipeline]") {
  OrderedPipeline<Number> pipeline(3, [](Number& number) {
    if (number.given % 7 == 0) std::this_thread::sleep_for(1ms);  // some overtake others
    number.squared = number.given * number.given;
  });
  int next = 0;
  for (int taken = 0; taken < 500; ++taken) {
    while (next < 500 && pipeline.size() < 20) pipeline.push({next++, 0});
    const auto number = pipeline.pop();
    REQUIRE(number.given == taken);
    REQUIRE(number.squared == taken * taken);
  }
  CHECK(pipeline.size() == 0);
}

TEST_CASE("a caller that waits for an item processes later ones", "[pipeline]") {
  std::atomic<bool> started = false;
  std::atomic<int> done = 0;
  std::mutex mutex;
  std::set<std::thread::id> workers;
  OrderedPipeline<int> pipeline(1, [&](int& item) {
    {
      const std::lock_guard lock(mutex);
      workers.insert(std::this_thread::get_id());
    }
    if (item == 0) {
      started = true;
      while (done < 2) std::this_thread::yield();  // ends only after the others were processed
    }
    ++done;
  });
  pipeline.push(0);
  while (!started) std::this_thread::yield();
  pipeline.push(1);
  pipeline.push(2);

  CHECK(pipeline.pop() == 0);
  CHECK(pipeline.pop() == 1);
  CHECK(pipeline.pop() == 2);
  CHECK(workers.contains(std::this_thread::get_id()));
  CHECK(workers.size() == 2);
}

TEST_CASE("without threads the caller does all the work", "[pipeline]") {
  OrderedPipeline<Number> pipeline(
      0, [](Number& number) { number.squared = number.given * number.given; });
  pipeline.push({3, 0});
  pipeline.push({4, 0});
  CHECK(pipeline.pop().squared == 9);
  CHECK(pipeline.pop().squared == 16);
}

TEST_CASE("destruction does not wait for items that were not started", "[pipeline]") {
  std::atomic<int> worked = 0;
  {
    OrderedPipeline<int> pipeline(2, [&](int&) {
      std::this_thread::sleep_for(1ms);
      ++worked;
    });
    for (int i = 0; i < 1000; ++i) pipeline.push(i);
  }
  CHECK(worked < 1000);
}

}  // namespace
}  // namespace ratchet::kbs
