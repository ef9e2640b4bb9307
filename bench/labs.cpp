// What the scheduler of labs costs: the product's own code on labs that only a simulated clock
// runs, with starts that fail, labs that are lost and calls that are canceled. Every decision is
// timed by the real clock; every job must end once. Prints a Markdown table.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kernels/labs/lab_scheduler.h"

namespace ratchet::bench {
namespace {

using Seconds = std::chrono::duration<double>;
using Time = LabScheduler::Clock::time_point;
using Work = LabScheduler::Work;

constexpr int kBuildPlaces = 16, kDevicePlaces = 1;
constexpr double kStart_s = 60;

struct Load {
  std::size_t labs = 1000, jobs = 100'000, runs = 1000;
};

/// One world: labs, what each run wants, and what happens next.
class Simulation {
 public:
  explicit Simulation(const Load& load) : load_(load) {
    for (std::size_t lab = 0; lab < load.labs; ++lab) {
      labs_.emplace_back();
      scheduler_.add("group", kBuildPlaces, kDevicePlaces);
      labs_[lab].kind = lab % 10 == 9 ? "other" : "same";  // one in ten
      start(lab, 0);
    }
    while (!agenda_.empty()) step();
    for (std::size_t lab = 0; lab < load.labs; lab += 2) {  // idle ones, to be started again
      labs_[lab].up = false;
      (void)scheduler_.ended(lab, false, now_);
    }
    for (std::size_t run = 0; run < load.runs; ++run) homes_.push_back(run % load.labs);
  }

  void play() {
    tasks_.resize(load_.jobs);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      auto& task = tasks_[i];
      task.order.run = i % load_.runs;
      task.order.home = homes_[i % load_.runs];
      task.order.work = chance(0.3) ? Work::build : Work::device;
      task.order.spreads = task.order.work == Work::build || chance(0.6);
      ++open_;
      submit(i);
      if (chance(0.02)) add(exponential(2000), {.what = Event::cancel, .task = i});
    }
    for (std::size_t lab = 0; lab < load_.labs; ++lab)
      add(exponential(3600), {.what = Event::lose, .lab = lab});
    while (open_ > 0) step();
  }

  void print(double cpu_s) {
    std::ranges::sort(calls_ns_);
    const auto at = [&](double share) {
      return calls_ns_[static_cast<std::size_t>(share *
                                                static_cast<double>(calls_ns_.size() - 1))] /
             1e3;
    };
    fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.0f} | {:.1f} | {:.0f} | {} | {} | {} |\n",
               load_.labs, load_.jobs, at(0.5), at(0.99), calls_ns_.back() / 1e3,
               cpu_s * 1e6 / static_cast<double>(load_.jobs), resident_mb(), lost_, given_back_,
               canceled_);
    std::fflush(stdout);
  }

 private:
  enum class Event { started, done, lose, cancel, retry };
  struct Happening {
    Event what = Event::done;
    std::size_t lab = 0, task = 0;
    LabScheduler::Placement placement{};
    int epoch = 0;
  };
  struct FakeLab {
    std::string kind;
    bool up = false, starting = false;
    int epoch = 0;  ///< of its process
    int builds = 0, devices = 0;
  };
  struct Task {
    LabScheduler::Order order;
    LabScheduler::Job job = 0;
    bool ended = false;
  };

  static void must(bool holds, std::string_view what) {
    if (holds) return;
    fmt::print(stderr, "invariant broken: {}\n", what);
    std::exit(1);
  }

  template <class Call>
  std::invoke_result_t<Call> timed(Call call) {
    const auto begin = LabScheduler::Clock::now();
    auto result = call();
    calls_ns_.push_back(
        std::chrono::duration<double, std::nano>(LabScheduler::Clock::now() - begin).count());
    return result;
  }

  bool chance(double p) { return std::uniform_real_distribution(0.0, 1.0)(dice_) < p; }
  double exponential(double mean) { return std::exponential_distribution(1 / mean)(dice_); }

  void add(double after_s, Happening what) {
    const auto at =
        now_ + std::chrono::duration_cast<LabScheduler::Clock::duration>(Seconds(after_s));
    agenda_.emplace(at, order_++, what);
  }

  void start(std::size_t lab, double after_s) {
    if (labs_[lab].starting) return;
    labs_[lab].starting = true;
    add(after_s, {.what = Event::started, .lab = lab});
  }

  void submit(std::size_t task) {
    auto [job, decisions] = timed([&] { return scheduler_.submit(tasks_[task].order, now_); });
    tasks_[task].job = job;
    owner_.resize(std::max<std::size_t>(owner_.size(), job + 1));
    owner_[job] = task;
    act(decisions);
  }

  void act(const LabScheduler::Decisions& decisions) {
    for (const auto& one : decisions.placed) {
      const auto& task = tasks_[owner_[one.job]];
      auto& lab = labs_[one.lab];
      must(task.order.spreads || one.lab == task.order.home, "a pinned job left its home");
      must(!task.order.spreads || one.lab == task.order.home || lab.up,
           "a job was placed on a lab that is off");
      must(lab.kind == labs_[task.order.home].kind, "a job was placed on a lab of another kind");
      if (!lab.up) start(one.lab, kStart_s);
      add((lab.up ? 0 : kStart_s) + exponential(task.order.work == Work::build ? 8 : 20),
          {.lab = one.lab, .task = owner_[one.job], .placement = one, .epoch = lab.epoch});
    }
    for (const auto lab : decisions.start) start(lab, kStart_s);
    for (const auto job : decisions.refused) add(30, {.what = Event::retry, .task = owner_[job]});
  }

  void close(Task& task) {
    must(!task.ended, "a job ended twice");
    task.ended = true;
    --open_;
  }

  void step() {
    must(!agenda_.empty(), "jobs are left, and nothing will ever happen");
    const auto [at, order, what] = agenda_.top();
    agenda_.pop();
    now_ = at;
    happen(what);
  }

  void happen(const Happening& what) {
    auto& lab = labs_[what.lab];
    switch (what.what) {
      case Event::started:
        lab.starting = false;
        lab.up = !chance(0.02);
        return act(timed([&] {
          return lab.up ? scheduler_.ready(what.lab, lab.kind, now_)
                        : scheduler_.failed(what.lab, now_);
        }));
      case Event::lose:
        add(exponential(3600), {.what = Event::lose, .lab = what.lab});
        if (!lab.up) return;
        ++lost_;
        ++lab.epoch;
        lab.up = false;
        return act(timed([&] { return scheduler_.ended(what.lab, true, now_); }));
      case Event::cancel:
        if (tasks_[what.task].ended) return;
        ++canceled_;
        close(tasks_[what.task]);
        return act(timed([&] { return scheduler_.cancel(tasks_[what.task].job, now_); }));
      case Event::retry:
        if (tasks_[what.task].ended) return;
        (void)scheduler_.cancel(tasks_[what.task].job, now_);
        return submit(what.task);
      case Event::done:
        return done(what);
    }
  }

  void done(const Happening& what) {
    auto& task = tasks_[what.task];
    const bool alive = labs_[what.lab].up && labs_[what.lab].epoch == what.epoch;
    LabScheduler::Decisions decisions;
    const bool counts = timed([&] { return scheduler_.finish(what.placement, now_, decisions); });
    act(decisions);
    if (!counts) {
      ++given_back_;
      return;
    }
    must(!task.ended, "a canceled job was finished");
    // A comparison that was cut off never happened: its caller asks again.
    if (!alive) {
      must(!task.order.spreads, "an answer of a lost lab counted");
      return add(1, {.what = Event::retry, .task = what.task});
    }
    close(task);
  }

  static double resident_mb() {
    std::ifstream file("/proc/self/statm");
    long all = 0, resident = 0;
    file >> all >> resident;
    return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
  }

  using Entry = std::tuple<Time, std::uint64_t, Happening>;
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return std::tie(std::get<0>(a), std::get<1>(a)) > std::tie(std::get<0>(b), std::get<1>(b));
    }
  };

  Load load_;
  LabScheduler scheduler_;
  Time now_{};
  std::mt19937_64 dice_{1};
  std::vector<FakeLab> labs_;
  std::vector<LabScheduler::Lab> homes_;
  std::vector<Task> tasks_;
  std::vector<std::size_t> owner_;  ///< the task of a job
  std::priority_queue<Entry, std::vector<Entry>, Later> agenda_;
  std::uint64_t order_ = 0;
  std::size_t open_ = 0;
  std::vector<double> calls_ns_;
  std::size_t lost_ = 0, given_back_ = 0, canceled_ = 0;
};

}  // namespace
}  // namespace ratchet::bench

int main() {
  using ratchet::bench::Load;
  fmt::print(
      "| labs | jobs, all at once | decision p50, µs | p99, µs | longest, µs | processor time of a "
      "job with its simulation, µs | resident, MB | labs lost | placements taken back | canceled "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& load :
       {Load{10, 100'000, 1000}, Load{100, 100'000, 1000}, Load{1000, 1'000, 1000},
        Load{1000, 10'000, 1000}, Load{1000, 100'000, 1000}}) {
    const auto begin = std::clock();
    ratchet::bench::Simulation simulation(load);
    simulation.play();
    simulation.print(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return 0;
}
