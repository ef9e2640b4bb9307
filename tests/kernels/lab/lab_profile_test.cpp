#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

constexpr int kElements = 200'000;

/// Does the work `times` times over; volatile, so that the compiler does not merge the passes.
std::string passes(int times) {
  return "for (int t = 0; t < " + std::to_string(times) +
         "; ++t) for (int i = 0; i < n; ++i) ((volatile float*)y)[i] = 2 * x[i];";
}

struct Profiled : LabFixture {
  using LabFixture::LabFixture;

  Candidate candidate(const std::string& body, const std::string& preamble = "",
                      int elements = kElements) {
    contract = doubling(doubling_source(body, preamble), elements);
    return built(contract);
  }

  Profile profile(const Candidate& one, const Candidate* parent = nullptr, bool verify = false) {
    ProfileRequest request;
    request.candidate = &one;
    request.parent = parent;
    request.verify = verify;
    auto profile = lab->profile(contract, request, "secret", call);
    if (!profile) FAIL(profile.error().message);
    return *std::move(profile);
  }

  Contract contract;
};

bool has_reason(const Profile& profile, const std::string& code) {
  return std::ranges::any_of(profile.reasons, [&](const auto& r) { return r.code == code; });
}

}  // namespace

TEST_CASE("a profile of v0 has its time, its rates and no comparison", "[lab][slow]") {
  Profiled fixture;
  const auto v0 = fixture.candidate(passes(1));

  const auto profile = fixture.profile(v0);

  CHECK(profile.verdict == Verdict::baseline);
  CHECK(profile.comparisons.empty());
  CHECK(profile.timing.cache_mode == CacheMode::cold);
  CHECK(profile.timing.samples > 0);
  // The first of the series, and any that a busy core took at a lower clock.
  CHECK(profile.timing.discarded >= 1);
  CHECK(profile.metrics.at("median_ns") == profile.timing.median.value);
  // Declared work: 8 bytes an element.
  CHECK(profile.metrics.at("achieved_bytes_per_s") ==
        8.0 * kElements / (profile.timing.median.value * 1e-9));
  CHECK(profile.roofline.bandwidth_ceiling.value_or(0) > 1e9);
}

TEST_CASE("a profile says how even the work of all threads is", "[lab][slow]") {
  Profiled fixture;
  // The first thread has the half with `times` passes and never waits.
  const auto work_of = [&](const std::string& times) -> std::optional<double> {
    const auto v0 = fixture.candidate(
        "_Pragma(\"omp parallel for schedule(static) num_threads(2)\") for (int i = 0; i < n; ++i) "
        "for (int t = 0; t < (i < n / 2 ? " +
        times + " : 40); ++t) ((volatile float*)y)[i] = 2 * x[i];");
    const auto profile = fixture.profile(v0);
    if (profile.kernels.empty()) return std::nullopt;
    const auto& metrics = profile.kernels.front().metrics;
    const auto work = metrics.find("thread_work.pct");
    return work == metrics.end() ? std::nullopt : std::optional(work->second);
  };
  const auto uneven = work_of("400");
  if (!uneven) SKIP("threads cannot be sampled here, or there is one core");
  CHECK(*uneven < 75);  // 220 of 400
  CHECK(work_of("40").value_or(0) > 75);
}

TEST_CASE("samples of a call of microseconds are the call's, not of what is read around it",
          "[lab][slow]") {
  Profiled fixture("python3", std::chrono::seconds(1), std::chrono::seconds(10));
  const auto v0 = fixture.candidate(passes(20), "", 1000);

  const auto profile = fixture.profile(v0);

  REQUIRE_FALSE(profile.kernels.empty());
  const auto& metrics = profile.kernels.front().metrics;
  if (!metrics.contains("samples")) SKIP("calls cannot be sampled here");
  CAPTURE(profile.timing.median.value, metrics.at("samples"));
  CHECK(metrics.at("samples_in_kernel.pct") > 60);
}

TEST_CASE("interventions are timed where they are asked for", "[lab][slow]") {
  Profiled fixture;
  const auto v0 = fixture.candidate(passes(8));

  const auto plain = fixture.profile(v0);
  const auto verified = fixture.profile(v0, nullptr, true);

  CHECK(plain.bound_evidence.find("halved") == std::string::npos);
  CHECK(verified.bound_evidence.find("; n halved saves") != std::string::npos);
  const bool one_thread = std::ranges::any_of(verified.findings, [](const DiagnosisFinding& one) {
    return one.id == "pattern-host-single-thread";
  });
  INFO(verified.bound_evidence);
  CHECK((verified.bound_evidence.find("half of the processors") != std::string::npos) ==
        one_thread);
  CHECK(verified.verdict == Verdict::baseline);
}

TEST_CASE(
    "a loop that wants vectors is confirmed by a build that has them, unless it answers wrongly",
    "[lab][slow]") {
  Profiled fixture;
  const std::string loop = "for (int i = 0; i < n; ++i) y[i] = 2 * std::log(std::exp(x[i]))";
  const auto confirmed = [](const Profile& profile) {
    return std::ranges::any_of(profile.findings, [](const DiagnosisFinding& one) {
      return one.outcome == FindingOutcome::confirmed &&
             one.intervention->starts_with("arithmetic in any order saves");
    });
  };
  const auto slow = fixture.candidate(loop + ";", "#include <cmath>\n");
  const auto sure = fixture.profile(slow, nullptr, true);
  // Adding a large number and taking it away rounds, but not in any order.
  const auto exact = fixture.candidate(
      loop + " + (x[i] * 8 + 12582912.0f - 12582912.0f) - std::nearbyint(x[i] * 8);",
      "#include <cmath>\n");
  const auto other = fixture.profile(exact, nullptr, true);

  INFO(sure.bound_evidence);
  CHECK(confirmed(sure));
  CHECK(sure.verdict == Verdict::baseline);
  CHECK(other.bound_evidence.find("halved saves") != std::string::npos);
  CHECK(other.bound_evidence.find("in any order") == std::string::npos);
  CHECK(other.verdict == Verdict::baseline);
}

TEST_CASE("an intervention that the kernel does not survive is left out, and the profile stands",
          "[lab][slow]") {
  Profiled fixture;
  const auto v0 =
      fixture.candidate("if (n != " + std::to_string(kElements) + ") return;" + passes(1));

  const auto profile = fixture.profile(v0, nullptr, true);

  CHECK(profile.bound_evidence.find("halved") == std::string::npos);
  CHECK(profile.verdict == Verdict::baseline);
  CHECK(profile.reasons.empty());
  CHECK_FALSE(profile.fault);
}

TEST_CASE("a kernel that does a fraction of its parent's work is faster", "[lab][timed]") {
  Profiled fixture;
  const auto slow = fixture.candidate(passes(48));
  const auto fast = fixture.candidate(passes(1));

  const auto profile = fixture.profile(fast, &slow);

  REQUIRE(profile.comparisons.size() == 1);
  CHECK(profile.comparisons.front().against == "parent");
  CHECK(profile.verdict == Verdict::faster);
  // 48 passes against one; the first, on cold data, may cost as much as ten of the others. The
  // difference is large so that a busy machine does not hide it.
  CHECK(profile.comparisons.front().speedup > 3);
}

TEST_CASE("a kernel is not faster than itself", "[lab][slow]") {
  Profiled fixture;
  const auto one = fixture.candidate(passes(4));

  const auto profile = fixture.profile(one, &one);

  CHECK(profile.verdict != Verdict::faster);
  CHECK(profile.verdict != Verdict::slower);
}

TEST_CASE("a kernel that is quick only on values that it recognizes as timed is not faster",
          "[lab][timed]") {
  Profiled fixture;
  const auto parent = fixture.candidate(passes(12));
  // All values are small: normal ones, which kernels are timed on. Anything else takes 60 passes.
  const auto cheat = fixture.candidate(
      "int times = 1; for (int i = 0; i < 4096 && i < n; ++i) if (x[i] > 6 || x[i] < -6) times = "
      "60;"
      "for (int t = 0; t < times; ++t) for (int i = 0; i < n; ++i) ((volatile float*)y)[i] = 2 * "
      "x[i];");

  const auto profile = fixture.profile(cheat, &parent);

  INFO(encode(profile).dump(1).substr(0, 6000));
  REQUIRE(profile.time_depends_on_values);
  CHECK(profile.time_depends_on_values->judged_on != kNormalValues);
  CHECK(profile.time_depends_on_values->high.value > 2 * profile.time_depends_on_values->low.value);
  CHECK(profile.verdict != Verdict::faster);
  REQUIRE(profile.comparisons.size() == 1);
  CHECK(profile.comparisons.front().speedup < 1);
}

TEST_CASE("a kernel that is wrong on other values only once it is timed is invalid",
          "[lab][timed]") {
  Profiled fixture;
  const auto parent = fixture.candidate(passes(8));
  // Normal values stay below 6, and are answered rightly.
  const auto cheat = fixture.candidate(
      "float f = 2; for (int i = 0; i < 4096 && i < n; ++i) if (x[i] > 6 || x[i] < -6) f = 1.5f;"
      "for (int i = 0; i < n; ++i) y[i] = f * x[i];");

  const auto profile = fixture.profile(cheat, &parent);

  CHECK(profile.verdict == Verdict::invalid);
  CHECK(has_reason(profile, "timed_output_wrong"));
  REQUIRE_FALSE(profile.reasons.empty());
  CHECK(profile.reasons.front().message.find("(timed on ") != std::string::npos);
}

TEST_CASE("a kernel whose processes differ by chance is held against itself", "[lab][slow]") {
  Profiled fixture;
  const auto parent = fixture.candidate(passes(8));
  // As many passes as the place says at which the system has put its code.
  const auto one = fixture.candidate(
      "const int times = 4 + int((std::uintptr_t(&base) >> 12) % 4) * 4;"
      "for (int t = 0; t < times; ++t) for (int i = 0; i < n; ++i) ((volatile float*)y)[i] = 2 * "
      "x[i];",
      "#include <cstdint>\nstatic int base;");

  // Of two processes, one in four pairs is alike.
  bool seen = false;
  for (int i = 0; i < 8 && !seen; ++i) {
    const auto profile = fixture.profile(one, &parent);
    REQUIRE(profile.verdict != Verdict::invalid);
    if (profile.own_noise.value_or(0) < 0.2) continue;  // four passes are a third at least
    seen = true;
    CHECK(profile.verdict != Verdict::faster);
  }
  CHECK(seen);
}

TEST_CASE("an honest kernel whose work depends on its values gets the range and its verdict",
          "[lab][timed]") {
  Profiled fixture;
  // As many steps as the value is large, as a search that ends early has.
  const auto steps = [](int each) {
    return "for (int i = 0; i < n; ++i) { const float m = x[i] < 0 ? -x[i] : x[i];"
           "const int steps = m < 40 ? 1 + (int)m : 40; volatile float v = 2 * x[i];"
           "for (int s = 0; s < steps * " +
           std::to_string(each) + "; ++s) v = 2 * x[i]; y[i] = v; }";
  };
  const auto parent = fixture.candidate(steps(12));
  const auto better = fixture.candidate(steps(2));

  // Neighbors on the processor can hide the gain from one session.
  auto profile = fixture.profile(better, &parent);
  for (int more = 0; more < 3 && profile.verdict != Verdict::faster; ++more)
    profile = fixture.profile(better, &parent);

  INFO(encode(profile).dump(1).substr(0, 6000));
  CHECK(profile.verdict == Verdict::faster);
  REQUIRE(profile.time_depends_on_values);
  CHECK(profile.time_depends_on_values->high > profile.time_depends_on_values->low);
}

TEST_CASE("a kernel that does the same on all values has no range", "[lab][timed]") {
  Profiled fixture;
  const auto parent = fixture.candidate(passes(8));
  const auto one = fixture.candidate(passes(4));
  ProfileRequest request;
  request.candidate = &one;
  request.parent = &parent;

  // Other work on the machine may slow one distribution down; not three times in a row.
  bool depends = true;
  for (int i = 0; i < 3 && depends; ++i) {
    const auto profile = fixture.lab->profile(fixture.contract, request, "secret", fixture.call);
    REQUIRE(profile);
    REQUIRE(profile->over_values);
    CHECK_FALSE(profile->over_values->empty());
    depends = profile->time_depends_on_values.has_value();
  }
  CHECK_FALSE(depends);
}

TEST_CASE("a version that is compared with nothing is timed on normal values alone",
          "[lab][timed]") {
  Profiled fixture;

  CHECK_FALSE(fixture.profile(fixture.candidate(passes(4))).over_values);
}

TEST_CASE("a profile compares with the best version as well", "[lab][slow]") {
  Profiled fixture;
  const auto v0 = fixture.candidate(passes(16));
  const auto best = fixture.candidate(passes(1));
  const auto parent = fixture.candidate(passes(8));
  const auto one = fixture.candidate(passes(4));
  ProfileRequest request;
  request.candidate = &one;
  request.parent = &parent;
  request.v0 = &v0;
  request.best = &best;

  const auto profile = fixture.lab->profile(fixture.contract, request, "secret", fixture.call);

  REQUIRE(profile);
  REQUIRE(profile->comparisons.size() == 3);
  CHECK(profile->comparisons[2].against == "best");
  CHECK(profile->comparisons[2].speedup < 1);
}

TEST_CASE("a kernel that skips its work once it has been checked is invalid", "[lab]") {
  Profiled fixture;
  const auto cheat = fixture.candidate(
      "if (calls++ < 3) for (int i = 0; i < n; ++i) y[i] = 2 * x[i];", "static int calls;");

  const auto profile = fixture.profile(cheat);

  CHECK(profile.verdict == Verdict::invalid);
  CHECK(has_reason(profile, "unsynchronised_work"));
}

TEST_CASE("a kernel that is wrong only after many calls is detected by its timed outputs",
          "[lab]") {
  Profiled fixture;
  const auto cheat = fixture.candidate(
      "const float f = calls++ < 6 ? 2 : 1.5f; for (int i = 0; i < n; ++i) y[i] = f * x[i];",
      "static int calls;");

  const auto profile = fixture.profile(cheat);

  CHECK(profile.verdict == Verdict::invalid);
  CHECK(has_reason(profile, "timed_output_wrong"));
}

TEST_CASE("a kernel that crashes while it is timed is invalid with its fault", "[lab]") {
  Profiled fixture;
  const auto crasher = fixture.candidate(
      "for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; if (calls++ == 5) __builtin_trap();",
      "static int calls;");

  const auto profile = fixture.profile(crasher);

  CHECK(profile.verdict == Verdict::invalid);
  REQUIRE(profile.fault);
  CHECK(profile.fault->kind == "crash");
}

TEST_CASE(
    "a benchmark runs the requested trials, cold and one after the other, and names missing "
    "baselines",
    "[lab][slow]") {
  Profiled fixture;
  const auto slow = fixture.candidate(passes(8));
  const auto fast = fixture.candidate(passes(2));
  BenchmarkRequest request;
  request.candidate = &fast;
  request.v0 = &slow;
  request.num_trials = 24;
  request.baselines = {"pytorch-eager", "flashinfer"};

  const auto report = fixture.lab->benchmark(fixture.contract, request, "secret", fixture.call);

  REQUIRE(report);
  REQUIRE(report->rows.size() == 4);
  CHECK(report->correct);
  CHECK(report->timing_method == "steady_clock");
  CHECK(report->rows[0].name == "candidate");
  CHECK(report->rows[0].timing->samples + report->rows[0].timing->discarded == 24);
  CHECK(report->rows[0].timing->discarded >= 1);  // the first, and those at a lower clock
  CHECK(report->rows[1].name == "v0");
  CHECK(report->rows[1].speedup_median.value() > 1.5);
  CHECK(report->rows[2].status == "missing");
  CHECK(report->rows[2].detail.value().find("C++") != std::string::npos);
  CHECK(report->rows[3].status == "missing");
  // None of the baselines was measured, so the one figure over W is against v0, and says so.
  CHECK(report->geomean.value() == Catch::Approx(report->rows[1].comparison->speedup));
  CHECK(report->geomean_against == "v0");
  const auto is_sustained = [](const std::string& note) {
    return note.find(": sustained (") != std::string::npos;
  };
  const auto note = std::ranges::find_if(report->notes, is_sustained);
  REQUIRE(note != report->notes.end());
  INFO(*note);
  CHECK(note->find("candidate ") != std::string::npos);
  CHECK(note->find("; v0 ") != std::string::npos);
  CHECK(note->find("speedup ") != std::string::npos);

  request.cache_mode = CacheMode::hot;  // that is its only mode then
  const auto hot = fixture.lab->benchmark(fixture.contract, request, "secret", fixture.call);
  REQUIRE(hot);
  CHECK(std::ranges::none_of(hot->notes, is_sustained));
}

TEST_CASE("a benchmark holds each of its rows against physics", "[lab][slow]") {
  Profiled fixture;
  const auto one = fixture.candidate(passes(2));
  fixture.contract.cases.push_back({{{"n", 2 * kElements}}, 1, false});
  // The first case declares what it moves, the second a hundred thousand times that.
  fixture.contract.work = Work{fmt::format("8*n + 800000*(n - {})", kElements), "n", DType::f32};
  BenchmarkRequest request;
  request.candidate = &one;
  request.v0 = &one;
  request.num_trials = 12;
  request.host_time = true;  // without sustained sessions

  const auto report = fixture.lab->benchmark(fixture.contract, request, "secret", fixture.call);

  REQUIRE(report);
  REQUIRE(report->rows.size() == 4);
  CHECK_FALSE(report->correct);
  CHECK(report->rows[0].status == "ok");
  CHECK(report->rows[1].comparison);
  for (const auto* row : {&report->rows[2], &report->rows[3]}) {
    CHECK(row->status == "failed");
    CHECK(row->detail.value().find("above the ceiling") != std::string::npos);
    CHECK_FALSE(row->comparison);
  }
}
