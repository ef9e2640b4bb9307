// How often the rules of timing are wrong, on simulated times whose truth is known. The rules are
// the product's own functions; the former ones stand beside them. Prints Markdown tables.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/statistics/conditions.h"
#include "bench/statistics/distant.h"
#include "bench/statistics/floors.h"
#include "bench/statistics/former.h"
#include "bench/statistics/matches.h"
#include "bench/statistics/models.h"
#include "bench/statistics/searches.h"
#include "kernels/timing/statistics.h"
#include "server/facts/workload_gain.h"

namespace ratchet::bench {
namespace {

// ------------------------------------------------------------------------------------- intervals

/// How often the interval of one kernel's time holds the truth.
void coverage(int trials) {
  const std::vector<TimeModel> models{
      {.name = "independent calls"},
      {.name = "correlation 0.1 within a round", .correlation = 0.1},
      {.name = "correlation 0.3", .correlation = 0.3},
      {.name = "correlation 0.5", .correlation = 0.5},
      {.name = "ticks: 5.3 µs by a clock of 256 ns", .time_ns = 5'300, .tick_ns = 256},
      {.name = "ticks and correlation 0.3", .time_ns = 5'300, .correlation = 0.3, .tick_ns = 256},
      {.name = "bursts: 5 % of rounds 20 % slower",
       .correlation = 0.3,
       .burst_rounds = 0.05,
       .burst_slower = 0.2},
      {.name = "drift of 1 % through the session", .correlation = 0.3, .drift = 0.01},
  };
  fmt::print("\n### Coverage of the 95 % interval of one kernel's time\n\n");
  fmt::print(
      "| times | rounds | before | now | half-width before | now |\n|---|---|---|---|---|---|\n");
  for (const auto& model : models)
    for (const std::size_t rounds : {8, 21, 55}) {
      // Bursts move the median of all rounds a little: that is the truth then.
      const double moved = model.burst_rounds > 0 ? 0.066 : 0;  // the normal quantile of 0.5 / 0.95
      const double calls = 2.0 * static_cast<double>(model.calls_of_block);
      const double of_round =
          model.scatter * std::sqrt(model.correlation + (1 - model.correlation) / calls);
      const double truth = model.time_ns * (1 + moved * of_round);
      int before = 0;
      int now = 0;
      double width_before = 0;
      double width_now = 0;
      for (int i = 0; i < trials; ++i) {
        Kernel kernel(model, dice());
        std::vector<wire::Samples> blocks;
        std::vector<double> pooled;
        for (std::size_t r = 0; r < rounds; ++r)
          for (auto& block :
               kernel.round(chance(model.burst_rounds),
                            (static_cast<double>(r) + 0.5) / static_cast<double>(rounds))) {
            pooled.insert(pooled.end(), block.elapsed_ns.begin(), block.elapsed_ns.end());
            blocks.push_back(std::move(block));
          }
        const auto former = former_interval(pooled, kErrorRate);
        const auto timing = summarize(blocks, 0, CacheMode::cold);
        before += former.low <= truth && truth <= former.high ? 1 : 0;
        now += timing->ci_low.value <= truth && truth <= timing->ci_high.value ? 1 : 0;
        width_before += (former.high - former.low) / 2 / model.time_ns;
        width_now += (timing->ci_high.value - timing->ci_low.value) / 2 / model.time_ns;
      }
      fmt::print("| {} | {} | {} | {} | {:.2f} % | {:.2f} % |\n", model.name, rounds,
                 percent(1.0 * before / trials), percent(1.0 * now / trials),
                 100 * width_before / trials, 100 * width_now / trials);
    }
}

// ----------------------------------------------------------------------------------- comparisons

struct Counts {
  int trials = 0;
  std::map<Verdict, int> of;
  double rounds = 0;

  [[nodiscard]] double share(Verdict verdict) const {
    const auto found = of.find(verdict);
    return found == of.end() ? 0 : 1.0 * found->second / trials;
  }
};

Counts counted(const Match& match, bool former, int trials) {
  Counts counts;
  counts.trials = trials;
  for (int i = 0; i < trials; ++i) {
    const auto ended = play(match, former);
    ++counts.of[ended.verdict];
    counts.rounds += static_cast<double>(ended.rounds) / trials;
  }
  return counts;
}

void line(const std::string& name, const Match& match, int trials) {
  const auto before = counted(match, true, trials);
  const auto now = counted(match, false, trials);
  const auto cell = [](const Counts& c) {
    return fmt::format("{} | {} | {} | {} | {:.0f}", percent(c.share(Verdict::faster)),
                       percent(c.share(Verdict::slower)), percent(c.share(Verdict::same)),
                       percent(c.share(Verdict::inconclusive)), c.rounds);
  };
  fmt::print("| {} | {} | {} |\n", name, cell(before), cell(now));
}

void heading(const char* title) {
  fmt::print(
      "\n### {}\n\nBefore, then now: faster, slower, same, inconclusive, rounds on average.\n\n"
      "| times | faster | slower | same | inconcl. | rounds | faster | slower | same | inconcl. | "
      "rounds |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      title);
}

void equal_kernels(int trials) {
  heading("A kernel against itself");
  line("quiet, 57 µs", even({.correlation = 0.3}), trials);
  line("correlation 0.5, scatter 1 %", even({.scatter = 0.01, .correlation = 0.5}), trials);
  line("scatter 2 %, correlation 0.3", even({.scatter = 0.02, .correlation = 0.3}), trials);
  line("ticks, 5.3 µs", even({.time_ns = 5'300, .tick_ns = 256}, 0.003, 0.013), trials);
  line("ticks, 5.3 µs, floor 0.5 %", even({.time_ns = 5'300, .tick_ns = 256}), trials);
  line("bursts in 10 % of rounds",
       even({.correlation = 0.3, .burst_rounds = 0.1, .burst_slower = 0.3}), trials);
  line("interrupts: 5 % of calls, 20 µs",
       even({.correlation = 0.3, .outliers = 0.05, .outlier_ns = 20'000}), trials);
  line("drift 3 %", even({.correlation = 0.3, .drift = 0.03}), trials);
  line("busy host: 1 call a block, scatter 3 %, floor 3 %",
       even({.scatter = 0.03,
             .correlation = 0.3,
             .outliers = 0.05,
             .outlier_ns = 30'000,
             .calls_of_block = 1},
            0.008, 0.03),
       trials);
}

void small_gains(int trials) {
  heading("A small gain is seen");
  line("1 % at 57 µs", faster_by(even({.correlation = 0.3}), 0.01), trials);
  line("1 % at 57 µs, scatter 1 %, correlation 0.1",
       faster_by(even({.scatter = 0.01, .correlation = 0.1}), 0.01), trials);
  line("2 % at 5.3 µs, ticks of 256 ns, floor 1 %",
       faster_by(even({.time_ns = 5'300, .tick_ns = 256}, 0.001, 0.01), 0.02), trials);
  line("5 % on a busy host, floor 3 %",
       faster_by(even({.scatter = 0.03, .correlation = 0.3, .calls_of_block = 1}, 0.005, 0.03),
                 0.05),
       trials);
}

void minorities(int trials) {
  heading("Slow minorities: attacks first, then honest kernels");
  const auto attack = [&](const char* name, double share, double factor, double gain) {
    auto match = faster_by(even({.correlation = 0.3}), gain);
    match.candidate.slow_share = share;
    match.candidate.slow_factor = factor;
    line(name, match, trials);
  };
  attack("35 % of calls 3× slower, the rest 10 % faster", 0.35, 3, 0.1);
  attack("12 % of calls 3× slower, the rest 10 % faster", 0.12, 3, 0.1);
  attack("5 % of calls 4× slower, the rest 5 % faster", 0.05, 4, 0.05);
  attack("3 % of calls 10× slower, the rest 3 % faster", 0.03, 10, 0.03);
  attack("honest: 1 of 100 calls 5× slower, the rest 10 % faster", 0.01, 5, 0.1);
  attack("honest: 10 % faster", 0, 1, 0.1);
  line("honest: 10 % faster, interrupts in 8 % of all calls",
       faster_by(even({.correlation = 0.3, .outliers = 0.08, .outlier_ns = 20'000}), 0.1), trials);
  line("honest: 5× faster, the same interrupts",
       faster_by(even({.correlation = 0.3, .outliers = 0.08, .outlier_ns = 20'000}), 4), trials);
  auto both = faster_by(even({.correlation = 0.3, .slow_share = 0.35, .slow_factor = 3}), 0.1);
  line("honest: both sides slow in 35 % of calls, 10 % faster", both, trials);
  line("honest: 10 % faster at 1.3 µs, ticks of 256 ns",
       faster_by(even({.time_ns = 1'300, .tick_ns = 256}, 0.001, 0.02), 0.1), trials);
}

// ------------------------------------------------------------------------------------------- runs

/// The figure reported for the best of `versions` equal ones, of which none is faster than v0.
void winners(int trials) {
  fmt::print(
      "\n### Which of several versions is the best, and its figure\n\nEvery version is truly {} "
      "faster than v0; sessions scatter by 0.4 %. Before: the largest of all figures. Now: a "
      "version takes the place of the best one only by a verdict against it.\n\n"
      "| versions | figure before | figure now | places taken without reason "
      "|\n|---|---|---|---|\n",
      "10 %");
  for (const int versions : {5, 10, 20}) {
    double before = 0;
    double now = 0;
    double taken = 0;
    for (int i = 0; i < trials; ++i) {
      double largest = 0;
      double champion = 0;
      for (int v = 0; v < versions; ++v) {
        const double figure = 1.1 * std::exp(0.004 * normal());
        largest = std::max(largest, figure);
        if (v == 0) {
          champion = figure;
          continue;
        }
        auto match = even({.correlation = 0.3}, 0.002);
        if (play(match, false).verdict != Verdict::faster) continue;
        champion = figure;
        ++taken;
      }
      before += largest / trials;
      now += champion / trials;
    }
    fmt::print("| {} | {:.4f} | {:.4f} | {} |\n", versions, before, now,
               percent(taken / trials / (versions - 1)));
  }
}

/// How often a benchmark over several cases promotes.
void promotions(int trials) {
  fmt::print(
      "\n### How often a benchmark promotes (geometric mean of at least 1.05, no case slower)\n\n"
      "Medians of two rows scatter by 1 %, paired figures by 0.4 %; floor 0.5 %.\n\n"
      "| truth | cases | before | now |\n|---|---|---|---|\n");
  const auto row = [&](const char* name, std::size_t cases, double first, double others) {
    int before = 0;
    int now = 0;
    Contract contract;
    for (std::size_t c = 0; c < cases; ++c)
      contract.cases.push_back({{{"n", static_cast<std::int64_t>(c)}}, 1, false});
    for (int i = 0; i < trials; ++i) {
      BenchmarkReport report;
      double logs = 0;
      double lowest = 1e9;
      for (std::size_t c = 0; c < cases; ++c) {
        const double truth = c == 0 ? first : others;
        const double unpaired = truth * std::exp(0.01 * normal());
        logs += std::log(unpaired) / static_cast<double>(cases);
        lowest = std::min(lowest, unpaired);
        Comparison paired;
        paired.against = "v0";
        paired.speedup = truth * std::exp(0.004 * normal());
        paired.ci_low = paired.speedup * std::exp(-2 * 0.004);
        paired.ci_high = paired.speedup * std::exp(2 * 0.004);
        paired.pairs = 10;
        paired.noise_floor = kLeastNoise;
        paired.verdict = paired.ci_high < 1 / (1 + kLeastNoise) ? Verdict::slower : Verdict::same;
        BenchmarkRow one;
        one.name = "v0";
        one.dims = contract.cases[c].dims;
        one.comparison = paired;
        report.rows.push_back(std::move(one));
      }
      before += std::exp(logs) >= 1.05 && lowest >= 1 ? 1 : 0;
      const auto gain = workload_gain(report, contract, "v0");
      now += gain.low >= 1.05 && gain.slower == 0 ? 1 : 0;
    }
    fmt::print("| {} | {} | {} | {} |\n", name, cases, percent(1.0 * before / trials),
               percent(1.0 * now / trials));
  };
  row("all cases 4.5 % faster: too little", 4, 1.045, 1.045);
  row("all cases 5 % faster: on the limit", 4, 1.05, 1.05);
  row("all cases 7 % faster", 4, 1.07, 1.07);
  row("one case 1.5×, the others the same", 3, 1.5, 1);
  row("one case 2×, the others the same", 6, 2, 1);
  row("one case 2×, the others 3 % slower", 6, 2, 0.97);
}

/// How often any of six builds without effect is called different, by intervals alone.
void many_at_once(int trials) {
  fmt::print(
      "\n### Six builds that differ in nothing, in one session, without a noise floor\n\n"
      "| each at 5 % | all together (Holm) |\n|---|---|\n");
  int each = 0;
  int together = 0;
  for (int i = 0; i < trials / 10; ++i) {
    std::vector<Rival> rivals(6);
    Kernel whole({.correlation = 0.3}, dice());
    for (int r = 0; r < 21; ++r) {
      const auto shared = whole.round(false, 0.5);
      for (auto& rival : rivals)
        rival.rounds.push_back(
            std::move(paired(whole.round(false, 0.5), shared, 0).rounds.front()));
    }
    const auto beyond = [](const Comparison& one) { return one.ci_low > 1 || one.ci_high < 1; };
    bool any = false;
    for (auto& rival : rivals) {
      rival.noise_floor = 0;
      any = any || beyond(*compare(rival.rounds, 0, "", kErrorRate));
    }
    each += any ? 1 : 0;
    const auto all = compare_all(rivals);
    together += std::ranges::any_of(*all, beyond) ? 1 : 0;
  }
  fmt::print("| {} | {} |\n", percent(10.0 * each / trials), percent(10.0 * together / trials));
}

struct Section {
  const char* name;
  std::function<void(int)> print;
};

/// All tables, or those named.
void print_tables(int trials, const std::vector<std::string>& wanted) {
  const std::vector<Section> sections{
      {"coverage", coverage},
      {"equal", equal_kernels},
      {"gains", small_gains},
      {"minorities", minorities},
      {"distant", distant_sides},
      {"screenings", distant_screenings},
      {"noise", noise_floors},
      {"short", short_kernels},
      {"own", own_noises},
      {"promotions", promotions},
      {"many", many_at_once},
      {"winners", [](int n) { winners(std::max(1, n / 20)); }},
      {"sweeps", [](int n) { sweeps(std::max(1, n / 10)); }},
      {"ablations", [](int n) { ablations(std::max(1, n / 10)); }},
      {"throttled", [](int n) { throttled_sessions(std::max(1, n / 10)); }},
      {"values", [](int n) { worst_values(std::max(1, n / 10)); }}};
  for (const auto& section : sections)
    if (wanted.empty() || std::ranges::find(wanted, section.name) != wanted.end()) {
      dice().seed(20261123);  // fixed: each table can be made again, with others or alone
      section.print(trials);
    }
}

}  // namespace
}  // namespace ratchet::bench

int main(int argc, char** argv) try {
  int trials = 10'000;
  std::vector<std::string> wanted;
  CLI::App app("Simulated error rates of the timing rules", "bench-statistics");
  app.add_option("--trials", trials, "simulated sessions in each line");
  app.add_option(
      "--only", wanted,
      "coverage, equal, gains, minorities, distant, screenings, noise, short, own, promotions, "
      "many, winners, sweeps, ablations, throttled, values");
  CLI11_PARSE(app, argc, argv);
  ratchet::bench::print_tables(trials, wanted);
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench-statistics: %s\n", error.what());
  return EXIT_FAILURE;
}
