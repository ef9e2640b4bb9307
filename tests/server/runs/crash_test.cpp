// A run can continue after its server was killed at a random moment. RATCHET_KILLS sets the number
// of kills.

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "server/core/fd.h"
#include "tests/support/runs_samples.h"
#include "tests/support/sanitized.h"

namespace ratchet {
namespace {

namespace fs = samples::fs;

/// Repeats the next step of the run's stage forever. Runs in a child process, and writes a byte
/// when it begins.
void work_on(const fs::path& state, const RunId& run, unsigned seed, int begun) {
  auto opened = Runs::open(state, {.durable = false});
  if (!opened) return;
  Runs& runs = **opened;
  (void)!::write(begun, "b", 1);
  std::mt19937 random(seed);
  for (int i = 0; i < 400; ++i) {
    const auto status = runs.status(run);
    if (!status) return;
    const auto text = samples::kernel_text(static_cast<int>(random() % 1'000'000));
    switch (status->stage) {
      case Stage::open:
        if (auto granted = runs.permit(run, Event::submitted))
          (void)runs.record_build(*granted, samples::candidate(text), std::nullopt);
        break;
      case Stage::built:
        if (auto granted = runs.permit(run, Event::checked))
          (void)runs.record_correctness(*granted, samples::correctness(*granted->candidate));
        break;
      case Stage::correct:
        if (auto granted = runs.permit(run, Event::profiled))
          (void)runs.record_profile(*granted,
                                    samples::profile(*granted, 900, 1.1, Verdict::faster));
        break;
      case Stage::profiled:
        (void)runs.record_query(run, "w", "kernel",
                                samples::answer("q-kernel", {"technique-vectorized-loads"}));
        (void)runs.record_query(run, "w", "bottleneck",
                                samples::answer("q-bottleneck", {"pattern-host-memory-bandwidth"}));
        (void)runs.write_evidence(run, samples::evidence());
        break;
      case Stage::evidenced:
        (void)runs.write_hypothesis(run, samples::hypothesis(fmt::format("change {}", random())));
        break;
      case Stage::hypothesized:
        if (random() % 3 == 0) {  // sometimes the version starts over
          if (auto granted = runs.permit(run, Event::submitted))
            (void)runs.record_build(*granted, samples::candidate(text), std::nullopt);
        } else {
          (void)runs.check_gate(run, false, false);
        }
        break;
      default:
        return;
    }
  }
}

/// Starts the work in a child process and kills it after the given time.
void kill_after(std::chrono::microseconds delay, const fs::path& state, const RunId& run,
                unsigned seed) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    work_on(state, run, seed, theirs.get());
    ::_exit(0);
  }
  theirs.reset();
  char byte = 0;
  REQUIRE(::read(ours.get(), &byte, 1) == 1);
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  int how = 0;
  ::waitpid(child, &how, 0);
}

std::size_t half_written(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    count += entry.path().filename().string().starts_with('.') ? 1 : 0;
  return count;
}

void survive(int kills) {
  auto frozen = samples::contract(1000);
  const samples::Workshop shop(frozen);
  std::mt19937 random(7);
  std::int64_t rows = 1;
  for (int i = 0; i < kills; ++i) {
    const auto delay = std::chrono::microseconds(500 + random() % 20'000);
    // A sanitized program gets as far in ten times as long.
    kill_after(delay * (test::kSanitized ? 10 : 1), shop.state(), shop.run,
               static_cast<unsigned>(i));
    const auto again = shop.another();
    const auto audit = again->audit(shop.run);
    REQUIRE(audit);
    INFO("kill " << i << ": " << (audit->breaks.empty() ? "" : audit->breaks.front().message));
    REQUIRE(audit->intact);
    REQUIRE(audit->rows >= rows);
    rows = audit->rows;
    REQUIRE(again->status(shop.run)->integrity.empty());
    REQUIRE(half_written(shop.out()) == 0);
  }
  CHECK(rows > kills / 10);  // work was done between the kills
}

int kills(int usual) {
  const char* const wanted = std::getenv("RATCHET_KILLS");
  return wanted == nullptr ? usual : std::atoi(wanted);
}

TEST_CASE("a run continues after its server was killed at any moment", "[runs][crash]") {
  survive(kills(25));
}

}  // namespace
}  // namespace ratchet
