// Error rates of comparisons. A kernel compared with a copy of itself must not be reported as
// faster or slower; a kernel with a known share of additional work must be reported as slower. Real
// workers record long sessions, which are judged by the product's own functions as many short ones.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <future>
#include <map>
#include <span>
#include <string>

#include "bench/time/replay.h"
#include "bench/time/subjects.h"
#include "kernels/build/builder.h"
#include "kernels/build/toolchain.h"
#include "kernels/judge/judge.h"
#include "kernels/lab.h"
#include "kernels/timing/noise.h"
#include "kernels/timing/timed_arenas.h"
#include "kernels/timing/timing_session.h"
#include "server/core/files.h"

namespace ratchet::bench {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string device = "host";
  std::vector<std::string> kernels{"long", "short"};
  double slow_percent = 0;
  std::size_t copies = 3;  ///< processes of each of the two sides
  int openings = 2;        ///< recordings, each with new processes and memory
  double seconds = 10;     ///< of all recordings of one kernel
  double limit_ms = 10'000;
  bool calibrates = false;  ///< only that
  fs::path state;

  [[nodiscard]] DeviceKind kind() const {
    return device == "cuda" ? DeviceKind::cuda : DeviceKind::host;
  }
};

/// Results of many comparisons.
struct Tally {
  std::map<Verdict, int> now, before;
  std::vector<double> ratios, rounds, spent_ms, floors;
  double time_ns = 0;
};

double share_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void print_heading() {
  fmt::print(
      "| kernel | µs | comparisons | faster | slower | same | inconclusive | by the former rules | "
      "ratio | scatter p95 | noise floor | rounds | p95 | ms | p95 |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

/// One line. The former rules' verdicts are in the order of the columns before them.
void print(const Options& options, const std::string& kernel, Tally& tally) {
  std::vector<double> away;
  const double center = share_of(tally.ratios, 0.5);
  for (const auto ratio : tally.ratios) away.push_back(std::abs(std::log(ratio / center)));
  const auto of = [](std::map<Verdict, int>& counts, const char* between) {
    return fmt::format("{1}{0}{2}{0}{3}{0}{4}", between, counts[Verdict::faster],
                       counts[Verdict::slower], counts[Verdict::same],
                       counts[Verdict::inconclusive]);
  };
  fmt::print(
      "| {} {} +{} % | {:.2f} | {} | {} | {} | {:.4f} | {:.2f} % | {:.2f} % | {:.0f} | {:.0f} | "
      "{:.0f} | {:.0f} |\n",
      options.device, kernel, options.slow_percent, tally.time_ns / 1e3, tally.ratios.size(),
      of(tally.now, " | "), of(tally.before, ", "), center, 100 * share_of(away, 0.95),
      100 * share_of(tally.floors, 0.5), share_of(tally.rounds, 0.5), share_of(tally.rounds, 0.95),
      share_of(tally.spent_ms, 0.5), share_of(tally.spent_ms, 0.95));
  std::fflush(stdout);
}

/// Records sessions of one kernel and of its copy, in several processes each.
class Recorder {
 public:
  Recorder(const Options& options, const ReferenceParts& parts, const DeviceInfo& device,
           const std::string& kernel)
      : options_(options),
        parts_(parts),
        device_(device),
        subject_(make_subject(device, kernel, options.slow_percent)) {}

  /// Builds both and the reference.
  Status build();
  Result<Tally> run();

 private:
  Result<std::string> library(const Source& source);
  Result<SessionRecord> record();
  Status judge(const SessionRecord& recording, Tally& tally);

  const Options& options_;
  const ReferenceParts& parts_;
  const DeviceInfo& device_;
  Subject subject_;
  CallContext call_;
  std::string plain_, other_;  // libraries
};

Result<std::string> Recorder::library(const Source& source) {
  auto build = parts_.builder.build(kernel_build(subject_.contract, source), call_);
  if (!build) return build.error();
  if (!build->ok)
    return Error{ErrorCode::internal, build->errors.empty() ? "?" : build->errors.front().message,
                 ""};
  const auto path = parts_.builder.path_of(build->build_key);
  if (!path) return path.error();
  return read_file(*path);
}

Status Recorder::build() {
  auto plain = library(subject_.contract.kernel);
  if (!plain) return plain.error();
  auto other = library(subject_.other);
  if (!other) return other.error();
  plain_ = *std::move(plain);
  other_ = *std::move(other);
  const auto reference = build_reference(parts_, subject_.contract, call_);
  return reference ? Status{} : Status{reference.error()};
}

/// The two sides take turns in the list: other, plain, other, plain …
Result<SessionRecord> Recorder::record() {
  const auto sides = 2 * options_.copies;
  auto source = ArenaSource::open(parts_, subject_.contract, sides, call_);
  if (!source) return source.error();
  const auto arena = largest_arena(subject_.contract);
  if (!arena) return arena.error();
  const std::int64_t bytes = *arena * (TimedArenas::kMost + 1);
  std::vector<CandidateProcess> processes;
  for (std::size_t i = 0; i < sides; ++i) {
    auto process = CandidateProcess::launch(worker_spec(parts_.place, "candidate", bytes),
                                            parts_.place.job_deadline);
    if (!process) return process.error();
    processes.push_back(*std::move(process));
  }
  std::vector<Contestant> contestants;
  for (std::size_t i = 0; i < sides; ++i) {
    const auto& code = i % 2 == 0 ? other_ : plain_;
    if (auto loaded = processes[i].load({code, {"kernel", "solve", ""}}, call_); !loaded)
      return loaded.error();
    contestants.push_back({i % 2 == 0 ? "other" : "plain", &processes[i]});
  }
  auto arenas = source->arenas({.dims = subject_.contract.cases.front().dims},
                               std::to_string(fresh_number()), call_);
  if (!arenas) return arenas.error();
  SessionPlan plan;
  plan.error_rate = 1e-12;  // no verdict is that certain: it goes on until its time is up
  plan.patient = true;
  plan.time_limit =
      std::chrono::milliseconds(static_cast<long>(1000 * options_.seconds / options_.openings));
  auto session = TimingSession(**arenas, plan).run(contestants, call_);
  if (!session) return session.error();
  for (const auto& one : session->contestants)
    if (!one.reasons.empty())
      return Error{ErrorCode::internal, one.name + ": " + one.reasons.front().message, ""};
  return session;
}

Status Recorder::judge(const SessionRecord& recording, Tally& tally) {
  SessionPlan plan;
  plan.noise = stored_noise(options_.state, device_);
  plan.time_limit = std::chrono::milliseconds(static_cast<long>(options_.limit_ms));
  for (std::size_t one = 0; one < recording.contestants.size(); one += 2)
    for (std::size_t other = 1; other < recording.contestants.size(); other += 2) {
      const auto sessions = replayed(recording, plan, one, other);
      if (!sessions) return sessions.error();
      for (const auto& session : *sessions) {
        ++tally.now[session.compared.verdict];
        tally.ratios.push_back(session.compared.speedup);
        tally.rounds.push_back(session.compared.pairs);
        tally.floors.push_back(session.compared.noise_floor);
        tally.spent_ms.push_back(session.ms);
      }
      for (const auto& end : replayed_formerly(recording, plan, one, other))
        ++tally.before[end.verdict];
    }
  const auto timing = timing_of(recording, 1, plan);
  if (!timing) return timing.error();
  tally.time_ns = timing->median.value;
  return {};
}

Result<Tally> Recorder::run() {
  Tally tally;
  for (int i = 0; i < options_.openings; ++i) {
    const auto recording = record();
    if (!recording) return recording.error();
    if (auto judged = judge(*recording, tally); !judged) return judged.error();
  }
  return tally;
}

/// Calibrates the device's noise profile, as the lab does.
Status calibrate(const Options& options, const fs::path& programs, const fs::path& data) {
  auto lab = Lab::open({.state_dir = options.state, .worker_dir = programs, .data_dir = data});
  if (!lab) return lab.error();
  CallContext call;
  auto ceilings = (*lab)->ceilings(0, options.kind(), false, call);
  if (!ceilings) return ceilings.error();
  return {};
}

/// The noise floors of the calibration, and how its comparisons scatter.
void print_floors(const NoiseProfile& noise, double seconds) {
  const auto scatter = [&](std::span<const NoisePoint> points) {
    double squares = 0;
    for (const auto& point : points) squares += std::log(point.ratio) * std::log(point.ratio);
    return 100 * std::sqrt(squares / static_cast<double>(points.size()));
  };
  const auto half = noise.points.size() / 2;  // of the short kernel, then of the long one
  const std::span points(noise.points);
  fmt::print(
      "floor {:.2f} % at 5.4 µs, {:.2f} % at 56 µs; {} comparisons at {:.2f} µs scatter by {:.2f} "
      "%, at {:.2f} µs by {:.2f} %; {:.1f} s\n",
      100 * noise_floor_at(noise, 5'400), 100 * noise_floor_at(noise, 56'000), half,
      points.front().time_ns / 1e3, scatter(points.first(half)), points.back().time_ns / 1e3,
      scatter(points.subspan(half)), seconds);
}

/// The device as a worker of its own reports it.
Result<DeviceInfo> device_of(const Options& options, const fs::path& programs) {
  auto worker = WorkerProcess::start(
      worker_spec({programs, options.kind(), 0, std::chrono::seconds(60)}, "candidate", 0), {});
  if (!worker) return worker.error();
  auto ready = decode_stored<wire::Reply>(worker->ready());
  if (!ready || !ready->device) return Error{ErrorCode::unavailable, "no usable device", ""};
  return *std::move(ready->device);
}

/// Records all kernels, once everything is built.
Status measure(const Options& options) {
  const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path data = programs.parent_path() / "share" / "ratchet";
  const auto begin = std::chrono::steady_clock::now();
  if (auto done = calibrate(options, programs, data); !done) return done;
  const std::chrono::duration<double> calibrating = std::chrono::steady_clock::now() - begin;
  auto builder = Builder::open({.cache = options.state / "builds",
                                .find_toolchain = [] { return find_toolchain("python3"); },
                                .programs = programs});
  if (!builder) return builder.error();
  PythonForkServer python({"python3", data, programs, options.kind()});
  const auto device = device_of(options, programs);
  if (!device) return device.error();
  if (options.calibrates) {
    const auto noise = stored_noise(options.state, *device);
    if (!noise || noise->points.empty()) return unavailable("the calibration was not stored");
    print_floors(*noise, calibrating.count());
    return {};
  }
  const ReferenceParts parts{
      {programs, options.kind(), 0, std::chrono::milliseconds(60'000)}, *builder, python, data};
  std::deque<Recorder> recorders;
  for (const auto& kernel : options.kernels)
    recorders.emplace_back(options, parts, *device, kernel);
  std::vector<std::future<Status>> builds;
  builds.reserve(recorders.size());
  for (auto& one : recorders)
    builds.push_back(std::async(std::launch::async, [&one] { return one.build(); }));
  for (auto& build : builds)
    if (auto done = build.get(); !done) return done;
  print_heading();
  for (std::size_t i = 0; i < recorders.size(); ++i) {
    auto tally = recorders[i].run();
    if (!tally) return tally.error();
    print(options, options.kernels[i], *tally);
  }
  return {};
}

}  // namespace
}  // namespace ratchet::bench

/// Prints a Markdown table with one line per kernel.
int main(int argc, char** argv) try {
  ratchet::bench::Options options;
  CLI::App app("Error rates of timing comparisons", "bench-time");
  app.add_option("--device", options.device, "host or cuda")
      ->check(CLI::IsMember({"host", "cuda"}));
  app.add_option("--kernel", options.kernels, "kernels to compare with a copy of themselves")
      ->check(CLI::IsMember(ratchet::bench::subject_names()));
  app.add_option("--slow", options.slow_percent,
                 "additional work of the copy of long and short, in percent");
  app.add_option("--copies", options.copies, "processes of each side; every pair is compared");
  app.add_option("--openings", options.openings,
                 "recordings of a kernel, each with new processes and memory")
      ->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "of recording each kernel");
  app.add_option("--limit-ms", options.limit_ms, "time limit of one comparison");
  app.add_flag("--calibrate", options.calibrates, "print only the noise floors, calibrated anew");
  bool print_source = false;
  app.add_flag("--print-source", print_source, "print only the source of the first kernel's copy");
  app.add_option("--state", options.state, "folder for builds and calibration");
  CLI11_PARSE(app, argc, argv);
  if (print_source) {
    fmt::print("{}", ratchet::bench::make_subject({.kind = options.kind()}, options.kernels.front(),
                                                  options.slow_percent)
                         .other.text);
    return EXIT_SUCCESS;
  }
  const bool own_state = options.state.empty();
  namespace fs = std::filesystem;
  if (own_state)
    options.state = fs::temp_directory_path() / fmt::format("bench-time-{}", ::getpid());
  const auto done = ratchet::bench::measure(options);
  if (!done) fmt::print(stderr, "bench-time: {} {}\n", done.error().message, done.error().hint);
  std::error_code ignored;
  if (own_state) fs::remove_all(options.state, ignored);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench-time: %s\n", error.what());
  return EXIT_FAILURE;
}
