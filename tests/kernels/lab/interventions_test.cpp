// Which conditions are tried on a real host kernel, and what they may decide. No time is asserted:
// what an intervention saves on a busy machine is not known beforehand.

#include "kernels/lab/interventions.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <string>
#include <vector>

#include "tests/kernels/lab/supplied.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

DiagnosisFinding named(const std::string& pattern) {
  DiagnosisFinding finding;
  finding.id = "pattern-" + pattern;
  finding.headroom = 0.5;
  return finding;
}

struct Intervened : Supplied {
  Intervened(const std::string& body, int n, const std::string& head = "")
      : Supplied(body, n, head, 2) {
    const auto greeted = parts->greeting(DeviceKind::host, 0, fixture.call);
    REQUIRE(greeted);
    device = greeted->device;
    arenas.reset();
    process.reset();
  }

  std::vector<Intervention> measured(const std::vector<DiagnosisFinding>& findings) {
    Profile profile;
    profile.timing.median.value = 1e9;  // of long calls there are fewest rounds
    auto found = Interventions(*parts, contract, *source, "secret", fixture.call)
                     .measure({candidate, profile, findings, device},
                              parts->session_plan(contract, device, false, fixture.call));
    if (!found) FAIL(found.error().message);
    return *std::move(found);
  }

  DeviceInfo device;
};

std::vector<Intervention> of(const std::vector<Intervention>& all, Condition condition) {
  std::vector<Intervention> found;
  std::ranges::copy_if(all, std::back_inserter(found),
                       [&](const Intervention& one) { return one.condition == condition; });
  return found;
}

FindingOutcome outcome_of(const std::vector<Intervention>& all, const std::string& pattern) {
  Diagnosis diagnosis;
  diagnosis.bound = Bound::mixed;
  diagnosis.findings = {named(pattern)};
  verify(all, diagnosis);
  CHECK((diagnosis.bound == Bound::mixed) ==
        (diagnosis.findings[0].outcome != FindingOutcome::confirmed));
  REQUIRE(diagnosis.findings[0].outcome);
  return *diagnosis.findings[0].outcome;
}

}  // namespace

TEST_CASE("half of the processors are tried where one thread works, and confirm nothing",
          "[lab][slow]") {
  Intervened kernel(kHonestBody, 1000);
  kernel.device.multiprocessors = 2;
  const auto all = kernel.measured({named("host-single-thread")});
  const auto fewer = of(all, Condition::fewer_processors);
  REQUIRE(fewer.size() == 1);
  CHECK(fewer[0].what == "half of the processors");
  CHECK(outcome_of(all, "host-single-thread") != FindingOutcome::confirmed);
}

TEST_CASE("with half of the processors a kernel really has no more", "[lab][slow]") {
  // It fails where it has fewer than two, and is left out then.
  Intervened kernel("if (omp_get_num_procs() < 2) __builtin_trap(); " + std::string(kHonestBody),
                    1000, "#include <omp.h>\n");
  if (kernel.device.multiprocessors < 2) SKIP("this machine has one processor");
  kernel.device.multiprocessors = 2;
  const auto all = kernel.measured({named("host-single-thread")});
  CHECK(of(all, Condition::fewer_processors).empty());
  CHECK(of(all, Condition::halved_dim).size() == 1);
}

TEST_CASE("caches of the cores are asked where the last cache leaves it open, and refute nothing",
          "[lab][slow]") {
  constexpr int kElements = 500'000;  // 4 MB: more than half of a core's own cache
  const auto near = sysconf(_SC_LEVEL2_CACHE_SIZE);
  // Times that scatter leave it open nearly always.
  const std::string scatter =
      "const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };"
      "for (const auto until = now() + now() / 64 * 7919 % 300'000; now() < until;);";
  Intervened kernel(scatter + kHonestBody, kElements, "#include <chrono>\n");
  kernel.device.multiprocessors = 1;  // so that the cores' caches are those of one
  const auto all = kernel.measured({named("host-single-thread")});
  CHECK(of(all, Condition::fewer_processors).empty());
  const auto warm = of(all, Condition::warm_caches);
  REQUIRE_FALSE(warm.empty());
  const bool open = warm[0].low < kConfirmedFrom && warm[0].high >= kNotConfirmedBelow;
  INFO(warm[0].low << ".." << warm[0].high);
  CHECK(warm.size() == (open && near > 0 ? 2 : 1));
  if (warm.size() < 2) return;
  CHECK(warm[1].what.starts_with("warm caches at n="));
  CHECK(8 * std::stol(warm[1].what.substr(17)) <= near / 2);
  CHECK(warm[1].other_size);
  CHECK_FALSE(warm[1].refutes);
  CHECK(outcome_of(all, "host-memory-bandwidth") != FindingOutcome::not_confirmed);
}
