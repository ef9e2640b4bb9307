#include "kernels/labs/lab_scheduler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <thread>
#include <vector>

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using Kind = LabScheduler::Work;

/// Scheduled of one group, two builds and one use of the device at a time each.
struct Scheduled {
  explicit Scheduled(std::size_t count) {
    for (std::size_t lab = 0; lab < count; ++lab) scheduler.add("boxes", 2, 1);
  }
  void all_ready(std::size_t count, const std::string& kind = "same") {
    for (std::size_t lab = 0; lab < count; ++lab) note(scheduler.ready(lab, kind, now));
  }

  LabScheduler::Job submit(std::uint64_t run, std::size_t home, bool spreads = true,
                           Kind work = Kind::device) {
    auto [job, decisions] = scheduler.submit({run, home, work, spreads}, now);
    note(decisions);
    return job;
  }
  void note(const LabScheduler::Decisions& decisions) {
    for (const auto& one : decisions.placed) placed[one.job] = one;
    for (const auto job : decisions.refused) refused.push_back(job);
    for (const auto lab : decisions.start) started.push_back(lab);
  }
  bool finish(LabScheduler::Job job) { return finish(placed.at(job)); }
  bool finish(const LabScheduler::Placement& placement) {
    LabScheduler::Decisions decisions;
    const bool ended = scheduler.finish(placement, now, decisions);
    note(decisions);
    return ended;
  }

  LabScheduler scheduler{30s};
  LabScheduler::Clock::time_point now{};
  std::map<LabScheduler::Job, LabScheduler::Placement> placed;
  std::vector<LabScheduler::Job> refused;
  std::vector<LabScheduler::Lab> started;
};

}  // namespace

TEST_CASE("what spreads goes home first, then to another lab, then waits for the first free one",
          "[labs][scheduler]") {
  Scheduled labs(2);
  labs.all_ready(2);

  const auto first = labs.submit(1, 1);
  const auto second = labs.submit(1, 1);
  const auto third = labs.submit(1, 1);

  CHECK(labs.placed.at(first).lab == 1);
  CHECK(labs.placed.at(second).lab == 0);
  CHECK_FALSE(labs.placed.contains(third));
  CHECK(labs.finish(second));
  CHECK(labs.placed.at(third).lab == 0);
}

TEST_CASE("labs start for jobs that are expected, as many as these need beside those that run",
          "[labs][scheduler]") {
  Scheduled labs(5);
  labs.note(labs.scheduler.ready(0, "same", labs.now));

  labs.note(labs.scheduler.expect(0, 1, labs.now));
  CHECK(labs.started.empty());
  labs.note(labs.scheduler.expect(0, 3, labs.now));
  CHECK(labs.started.size() == 2);
  labs.note(labs.scheduler.expect(0, 3, labs.now));
  CHECK(labs.started.size() == 2);
  labs.note(labs.scheduler.expect(0, 100, labs.now));
  CHECK(labs.started.size() == 4);
}

TEST_CASE("a lab that is known to be of another kind is not started for expected jobs",
          "[labs][scheduler]") {
  Scheduled labs(2);
  labs.note(labs.scheduler.ready(0, "same", labs.now));
  labs.note(labs.scheduler.ready(1, "other", labs.now));
  labs.note(labs.scheduler.ended(1, false, labs.now));

  labs.note(labs.scheduler.expect(0, 2, labs.now));

  CHECK(labs.started.empty());
}

TEST_CASE("what is pinned goes home at once, and what spreads keeps away from it",
          "[labs][scheduler]") {
  Scheduled labs(2);
  labs.all_ready(2);

  const auto calls = std::array{labs.submit(1, 0, false), labs.submit(2, 0, false)};
  const auto piece = labs.submit(3, 0);
  const auto waits = labs.submit(3, 0);

  for (const auto call : calls) CHECK(labs.placed.at(call).lab == 0);
  CHECK(labs.placed.at(piece).lab == 1);
  CHECK(labs.finish(calls[0]));
  CHECK_FALSE(labs.placed.contains(waits));
  CHECK(labs.finish(calls[1]));
  CHECK(labs.placed.at(waits).lab == 0);
}

TEST_CASE("builds that spread are shared out, though each lab has places for all",
          "[labs][scheduler]") {
  Scheduled labs(2);
  labs.all_ready(2);

  std::array<int, 2> built{};
  for (int i = 0; i < 4; ++i) ++built.at(labs.placed.at(labs.submit(1, 0, true, Kind::build)).lab);

  CHECK(built == std::array{2, 2});
}

TEST_CASE("a pinned job on a lab that is off says nothing about its kind", "[labs][scheduler]") {
  Scheduled labs(2);
  labs.note(labs.scheduler.ready(0, "same", labs.now));

  CHECK(labs.placed.at(labs.submit(1, 1, false)).lab == 1);
  labs.submit(1, 0);
  labs.submit(1, 0);

  CHECK(labs.started == std::vector<LabScheduler::Lab>{1});  // who spreads wants to know it
}

TEST_CASE("a lab of another kind does not help, one of the same kind does", "[labs][scheduler]") {
  Scheduled labs(3);
  labs.all_ready(1);
  labs.note(labs.scheduler.ready(1, "another driver", labs.now));
  labs.note(labs.scheduler.ready(2, "same", labs.now));

  std::vector<LabScheduler::Job> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(labs.submit(1, 0));

  CHECK(labs.placed.at(jobs[0]).lab == 0);
  CHECK(labs.placed.at(jobs[1]).lab == 2);
  CHECK_FALSE(labs.placed.contains(jobs[2]));
}

TEST_CASE("labs that are off are started when jobs wait, and take what waited longest",
          "[labs][scheduler]") {
  Scheduled labs(3);
  labs.note(labs.scheduler.ready(0, "same", labs.now));

  const auto first = labs.submit(1, 0);
  CHECK(labs.started.empty());  // nothing waits
  const auto second = labs.submit(1, 0);
  CHECK(labs.started.size() == 1);
  const auto third = labs.submit(1, 0);
  REQUIRE(labs.started.size() == 2);
  labs.note(labs.scheduler.ready(labs.started[1], "same", labs.now));

  CHECK(labs.placed.at(first).lab == 0);
  CHECK(labs.placed.at(second).lab == labs.started[1]);
  CHECK_FALSE(labs.placed.contains(third));
}

TEST_CASE("runs take turns, and within a run the first comes first", "[labs][scheduler]") {
  Scheduled labs(1);
  labs.all_ready(1);
  auto running = labs.submit(9, 0);
  std::vector<LabScheduler::Job> many, few;
  for (int i = 0; i < 50; ++i) many.push_back(labs.submit(1, 0));
  for (int i = 0; i < 2; ++i) few.push_back(labs.submit(2, 0));

  std::vector<LabScheduler::Job> order;
  for (int i = 0; i < 4; ++i) {
    const auto before = labs.placed;
    REQUIRE(labs.finish(running));
    for (const auto& [job, placement] : labs.placed)
      if (!before.contains(job)) running = job;
    order.push_back(running);
  }

  // The run with two jobs does not wait for the fifty that came before.
  CHECK(order == std::vector{many[0], few[0], many[1], few[1]});
}

TEST_CASE("a lost lab gives its jobs back, and an answer that comes late does not count",
          "[labs][scheduler]") {
  Scheduled labs(2);
  labs.all_ready(2);
  const auto first = labs.submit(1, 0);
  const auto second = labs.submit(1, 0);
  const auto late = labs.placed.at(second);
  REQUIRE(late.lab == 1);

  labs.note(labs.scheduler.ended(1, true, labs.now));

  CHECK_FALSE(labs.finish(late));
  CHECK(labs.placed.at(second).turn == late.turn);  // waits
  CHECK(labs.finish(first));
  CHECK(labs.placed.at(second).lab == 0);
  CHECK(labs.finish(second));
  CHECK_FALSE(labs.finish(second));
}

TEST_CASE("a pinned job stays on a lab that is lost: its caller hears of it", "[labs][scheduler]") {
  Scheduled labs(2);
  labs.all_ready(2);
  const auto pinned = labs.submit(1, 0, false);

  labs.note(labs.scheduler.ended(0, true, labs.now));

  CHECK(labs.placed.at(pinned).lab == 0);
  CHECK(labs.finish(pinned));
}

TEST_CASE("a lab that was lost is avoided until a call that names it has started it again",
          "[labs][scheduler]") {
  Scheduled labs(2);
  labs.all_ready(2);
  labs.note(labs.scheduler.ended(1, true, labs.now));
  labs.submit(1, 0);
  labs.submit(1, 0);
  REQUIRE(labs.started.empty());

  labs.submit(2, 1, false);
  CHECK(labs.started.empty());  // it may fail again
  labs.note(labs.scheduler.greeted(1, labs.now));

  CHECK_FALSE(labs.scheduler.is_avoided(1, labs.now));
  CHECK(labs.started == std::vector<LabScheduler::Lab>{1});  // to be asked for its kind
}

TEST_CASE("a lab whose start failed is avoided for a while; without another the job is refused",
          "[labs][scheduler]") {
  Scheduled labs(2);
  labs.note(labs.scheduler.ready(0, "same", labs.now));
  const auto first = labs.submit(1, 0);
  const auto second = labs.submit(1, 0);
  REQUIRE(labs.started == std::vector<LabScheduler::Lab>{1});

  labs.note(labs.scheduler.failed(1, labs.now));
  const auto third = labs.submit(2, 0);
  CHECK(labs.started.size() == 1);  // avoided
  CHECK(labs.refused.empty());      // the home works
  labs.note(labs.scheduler.ended(0, true, labs.now));

  std::ranges::sort(labs.refused);
  CHECK(labs.refused == std::vector{first, second, third});
  labs.now += 31s;
  const auto later = labs.submit(1, 0);
  CHECK(labs.placed.at(later).lab == 0);
  labs.submit(1, 0);
  CHECK(labs.started.size() == 2);
}

TEST_CASE("a waiting job that is canceled is never placed, and others move up",
          "[labs][scheduler]") {
  Scheduled labs(1);
  labs.all_ready(1);
  const auto running = labs.submit(1, 0);
  const auto gone = labs.submit(1, 0);
  const auto next = labs.submit(1, 0);

  labs.note(labs.scheduler.cancel(gone, labs.now));
  CHECK(labs.finish(running));

  CHECK_FALSE(labs.placed.contains(gone));
  CHECK(labs.placed.contains(next));
}

TEST_CASE("builds have places of their own", "[labs][scheduler]") {
  Scheduled labs(1);
  labs.all_ready(1);

  const auto check = labs.submit(1, 0);
  const auto build = labs.submit(1, 0, true, Kind::build);

  CHECK(labs.placed.at(check).lab == 0);
  CHECK(labs.placed.at(build).lab == 0);
}

TEST_CASE("threads that submit, cancel and finish while a lab comes and goes are all served once",
          "[labs][scheduler]") {
  constexpr std::size_t kLabs = 4, kFlaps = 3;
  constexpr int kJobs = 200;
  LabScheduler scheduler(1ms);
  const auto now = [] { return LabScheduler::Clock::now(); };
  for (std::size_t lab = 0; lab < kLabs; ++lab) scheduler.add("boxes", 2, 1);
  for (std::size_t lab = 0; lab < kLabs; ++lab) (void)scheduler.ready(lab, "same", now());
  std::array<std::atomic<int>, kLabs> on_lab{};
  std::atomic<int> served = 0, canceled = 0, crowded = 0, refused = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t run = 0; run < 8; ++run)
      threads.emplace_back([&, run] {
        for (int i = 0; i < kJobs; ++i) {
          const auto job =
              scheduler.submit({run, run % kFlaps, Kind::device, i % 3 != 0}, now()).first;
          if (i % 17 == 0) {
            (void)scheduler.cancel(job, now());
            ++canceled;
            continue;
          }
          for (bool done = false; !done;) {
            const auto [state, placement] = scheduler.wait(job, 1ms);
            if (state == LabScheduler::State::waiting) continue;
            if (state == LabScheduler::State::refused) {
              ++refused;
              break;
            }
            if (i % 3 != 0) {
              auto& here = on_lab.at(placement.lab);
              if (++here > 1 && placement.lab != kFlaps) ++crowded;
              std::this_thread::yield();
              --here;
            }
            LabScheduler::Decisions decisions;
            done = scheduler.finish(placement, now(), decisions);
          }
          ++served;
        }
      });
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        (void)scheduler.ended(kFlaps, true, now());
        std::this_thread::yield();
        (void)scheduler.ready(kFlaps, "same", now());
      }
    });
  }
  CHECK(served + canceled == 8 * kJobs);
  CHECK(refused == 0);
  CHECK(crowded == 0);
  // Nothing is left on a lab.
  for (std::size_t lab = 0; lab < kLabs; ++lab)
    CHECK(scheduler.submit({1, lab, Kind::device, false}, now()).second.placed.size() == 1);
}

}  // namespace ratchet
