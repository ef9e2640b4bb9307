#include "kernels/process/spare_workers.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <set>

#include "kernels/process/candidate_process.h"
#include "kernels/process/descendants.h"
#include "kernels/process/endings.h"
#include "tests/support/places.h"
#include "tests/support/processes.h"

namespace ratchet {
namespace {

std::set<pid_t> alive() {
  const auto all = descendants_of(::getpid());
  return {all.begin(), all.end()};
}

WorkerSpec spec(std::int64_t arena_bytes) {
  return worker_spec({test::build_dir() / "bin", DeviceKind::host, 0, std::chrono::seconds(5)},
                     "candidate", arena_bytes);
}

constexpr std::size_t kMany = 9;

TEST_CASE("a spare worker is there before it is needed, and serves one alone", "[worker]") {
  SpareWorkers spares;
  CHECK(spares.keep(spec(1000), 2, kMany) == 2);
  const auto started = alive();
  CHECK(started.size() == 2);

  auto first = spares.take(spec(1000));
  auto second = spares.take(spec(1000));
  REQUIRE(first);
  REQUIRE(second);
  CHECK(alive() == started);
  CHECK(spares.served());
  CHECK(first->greet({}));
  CHECK(second->greet({}));

  auto third = spares.take(spec(1000));
  REQUIRE(third);
  CHECK(third->greet({}));
  CHECK(alive().size() == 3);
}

TEST_CASE("a spare worker with other limits is not taken", "[worker]") {
  SpareWorkers spares;
  CHECK(spares.keep(spec(1000), 1, kMany) == 1);

  const auto other = spares.take(spec(2000));

  REQUIRE(other);
  CHECK_FALSE(spares.served());
  CHECK(alive().size() == 2);
}

TEST_CASE("spare workers are topped up, a few at a time, and end with their owner", "[worker]") {
  {
    SpareWorkers spares;
    CHECK(spares.keep(spec(1000), 3, 2) == 2);
    CHECK(spares.keep(spec(1000), 3, 2) == 1);
    CHECK(spares.keep(spec(1000), 3, 2) == 0);
    SpareWorkers moved = std::move(spares);
    CHECK(alive().size() == 3);
    moved = {};
    CHECK(alive().empty());
    CHECK(moved.keep(spec(1000), 1, kMany) == 1);
  }
  CHECK(alive().empty());
}

TEST_CASE("what a fork server makes, or what needs files, does not start ahead", "[worker]") {
  SpareWorkers spares;
  auto furnished = spec(1000);
  furnished.furnish = [](const std::filesystem::path&) { return Status{}; };
  auto forked = spec(1000);
  forked.spawn = [](const ProcessSpec& one) { return Process::spawn(one); };

  CHECK(spares.keep(furnished, 1, kMany) == 0);
  CHECK(spares.keep(forked, 1, kMany) == 0);
  CHECK(alive().empty());
}

TEST_CASE("a spare worker that died after it was ready is not taken", "[worker]") {
  SpareWorkers spares;
  CHECK(spares.keep(spec(1000), 1, kMany) == 1);
  spares.settle({});
  test::kill_child(*alive().begin());

  auto worker = spares.take(spec(1000));

  REQUIRE(worker);
  CHECK(worker->greet({}));
  CHECK_FALSE(spares.served());
  CHECK(alive().size() == 1);
}

TEST_CASE("spare workers that have died are found when they settle", "[worker]") {
  SpareWorkers spares;
  CHECK(spares.keep(spec(1000), 2, kMany) == 2);
  test::kill_child(*alive().begin());

  spares.settle({});

  CHECK(spares.keep(spec(1000), 2, kMany) == 1);
  for (int i = 0; i < 2; ++i) {
    auto worker = spares.take(spec(1000));
    REQUIRE(worker);
    CHECK(worker->greet({}));  // again, of the one that had settled
  }
}

TEST_CASE("what ends aside has ended once it was waited for", "[worker]") {
  Endings endings;
  for (int i = 0; i < 3; ++i) {
    auto worker = WorkerProcess::start(spec(1000), {});
    REQUIRE(worker);
    endings.add(*std::move(worker));
  }

  endings.wait();

  CHECK(alive().empty());
}

}  // namespace
}  // namespace ratchet
