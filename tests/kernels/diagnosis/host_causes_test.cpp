// What rules v12 learned from the kernels of tests/labels/host_blind.py and rules v14 from those of
// host_strangers.py, and beside each the honest kernel of which the older answer stays right.

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/diagnosis/counted_kernel.h"

using namespace ratchet;
using ratchet::test::first;
using ratchet::test::found;

namespace {

using Facts = std::map<std::string, double>;

/// A sampled call of a millisecond on one of eight cores, all of it in the kernel's loops.
Diagnosis on_eight_cores(const Facts& more) {
  Facts facts{{"duration_time", 1e6}, {"first_thread_time", 1e6}, {"user_time", 1e6},
              {"system_time", 0},     {"run_delay", 0},           {"samples", 500},
              {"hot_loops.pct", 100}, {"tensor_bytes", 64e6},     {"samples_in_kernel.pct", 100}};
  for (const auto& [name, value] : more) facts[name] = value;
  const std::vector<KernelCounters> kernels{{"solve", std::move(facts)}};
  DiagnosisInput input;
  input.device.multiprocessors = 8;
  input.kernels = kernels;
  return diagnose(input);
}

/// The same, of eight threads that keep all cores busy.
Diagnosis with_threads(Facts more) {
  more.insert({"user_time", 8e6});
  more.insert({"packed_arithmetic.pct", 100});
  return on_eight_cores(more);
}

}  // namespace

TEST_CASE("what limits the one thread that works is the class, threads are a finding beside it",
          "[diagnosis]") {
  const Facts reasons[] = {{{"packed_arithmetic.pct", 0}}, {{"divisions.pct", 95}}};
  for (const auto& reason : reasons) {
    const auto diagnosis = on_eight_cores(reason);
    CHECK(diagnosis.bound == Bound::compute);
    // Seven idle cores promise more.
    CHECK(first(diagnosis) == "host-single-thread");
    CHECK(diagnosis.findings.size() == 2);
  }
  CHECK(on_eight_cores({{"dependency_chain.pct", 95}}).bound == Bound::latency);

  // Its code is as good as it gets, or only a weak sign says otherwise: the cores are missing.
  CHECK(on_eight_cores({{"packed_arithmetic.pct", 100}}).bound == Bound::occupancy);
  CHECK(on_eight_cores({{"packed_arithmetic.pct", 100}, {"divisions.pct", 45}}).bound ==
        Bound::occupancy);
}

TEST_CASE("threads promise what is left when they are started, of short calls little",
          "[diagnosis]") {
  // The work of 0.3 ms: seven eighths of it less 0.07 ms for the start of threads.
  const Facts brief{{"duration_time", 3e5},
                    {"first_thread_time", 3e5},
                    {"user_time", 3e5},
                    {"packed_arithmetic.pct", 0}};
  CHECK(found(on_eight_cores(brief)) == "host-scalar-loop host-single-thread");
  auto briefer = brief;
  for (const auto* time : {"duration_time", "first_thread_time", "user_time"}) briefer[time] = 6e4;
  CHECK(found(on_eight_cores(briefer)) == "host-scalar-loop");
}

TEST_CASE("the operating system's part of a call is not split among threads", "[diagnosis]") {
  Facts touches{{"minor-faults", 9000},
                {"user_time", 5e5},
                {"system_time", 5e5},
                {"packed_arithmetic.pct", 100}};
  const auto diagnosis = on_eight_cores(touches);
  CHECK(found(diagnosis) == "host-page-faults host-single-thread");
  CHECK(diagnosis.bound == Bound::memory);
  // A fifth of the time for new pages: most of the gain is in the work.
  touches["user_time"] = 8e5;
  touches["system_time"] = 2e5;
  CHECK(first(on_eight_cores(touches)) == "host-single-thread");
}

TEST_CASE("jumps by data come before threads, whose work they may order", "[diagnosis]") {
  const auto jumps = on_eight_cores({{"branches.pct", 95}, {"duration_time", 5e5}});
  CHECK(found(jumps) == "host-branches host-single-thread");
  CHECK(jumps.bound == Bound::latency);
  // Counted, and predicted: the jumps cost nothing.
  const auto predicted =
      on_eight_cores({{"branches.pct", 95}, {"branch-misses", 1}, {"branches", 1000}});
  CHECK(found(predicted) == "host-single-thread");
}

TEST_CASE("divisions are named where packing does not come first", "[diagnosis]") {
  CHECK(found(with_threads({{"packed_arithmetic.pct", 0}, {"divisions.pct", 95}})) ==
        "host-scalar-loop");
  // Packed already; integers, of which there are no packed divisions; a chain, which packs not.
  CHECK(found(with_threads({{"divisions.pct", 95}})) == "host-divisions");
  CHECK(found(on_eight_cores({{"user_time", 8e6}, {"divisions.pct", 95}})) == "host-divisions");
  CHECK(found(with_threads(
            {{"packed_arithmetic.pct", 0}, {"divisions.pct", 95}, {"dependency_chain.pct", 95}})) ==
        "host-dependency-chain host-divisions");
}

TEST_CASE("threads with less work are seen although the first one never waits", "[diagnosis]") {
  const Facts heavy_first{{"threads", 8}, {"thread_work.pct", 20}, {"thread_waits.pct", 75}};
  const auto uneven = with_threads(heavy_first);
  CHECK(found(uneven) == "host-imbalance");
  CHECK(uneven.bound == Bound::occupancy);
  CHECK(found(with_threads({{"threads", 8}, {"thread_work.pct", 90}})).empty());

  // Even work of threads that begin late: the first one's wait is no imbalance.
  const Facts late{{"samples_in_kernel.pct", 60}, {"samples_in_threads.pct", 40}};
  auto even = late;
  even.insert({{"threads", 8}, {"thread_work.pct", 95}, {"thread_waits.pct", 40}});
  CHECK(found(with_threads(even)).empty());
  CHECK(found(with_threads(late)) == "host-imbalance");  // only the first thread was sampled
}

TEST_CASE("a thread that neighbors kept from its core is no imbalance", "[diagnosis]") {
  // Others took its share of the work: it has done less of it, and nobody waited.
  Facts held{{"run_delay", 9e5}, {"threads", 8}, {"thread_work.pct", 60}, {"thread_waits.pct", 2}};
  CHECK(found(with_threads(held)) == "host-neighbors");
  // The same machine, and threads that wait for the busiest.
  held["thread_waits.pct"] = 38;
  CHECK(found(with_threads(held)) == "host-imbalance host-neighbors");
}

TEST_CASE("packed loops that stream wait for memory below the ceiling of a single pass",
          "[diagnosis]") {
  const auto passes = with_threads({{"streaming.pct", 90}, {"tensor_bandwidth.pct", 37}});
  CHECK(passes.bound == Bound::memory);
  CHECK(found(passes) == "host-memory-bandwidth");

  // A product, whose tensors stay in the caches, and arithmetic on what is moved once.
  CHECK(with_threads({{"streaming.pct", 90}, {"tensor_bandwidth.pct", 8}}).bound == Bound::compute);
  CHECK(with_threads({{"streaming.pct", 0}, {"tensor_bandwidth.pct", 37}}).bound == Bound::compute);
}

TEST_CASE("bandwidth that a chain of waits may not take is not blamed for it", "[diagnosis]") {
  const auto at = [](double chain, double bandwidth) {
    return with_threads({{"dependency_chain.pct", chain}, {"tensor_bandwidth.pct", bandwidth}});
  };
  CHECK(found(at(95, 50)) == "host-dependency-chain");
  CHECK(at(95, 50).bound == Bound::latency);
  CHECK(found(at(0, 50)) == "host-memory-bandwidth");
  CHECK(found(at(95, 90)) == "host-memory-bandwidth");  // there is no more
}

TEST_CASE("atomics on a table that fits into the caches miss none", "[diagnosis]") {
  const Facts counts{{"atomics.pct", 95}, {"indirect_loads.pct", 95}, {"tensor_bytes", 1.05e6}};
  CHECK(found(with_threads(counts)) == "host-atomics");

  auto far = counts;
  far["tensor_bytes"] = 64e6;
  CHECK(found(with_threads(far)) == "host-atomics host-cache-miss");
  CHECK(found(with_threads({{"indirect_loads.pct", 95}, {"tensor_bytes", 1.05e6}})) ==
        "host-cache-miss");
}
