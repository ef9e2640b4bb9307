// Error rates of comparisons. A kernel compared with itself must not be reported as faster or
// slower; a kernel with a known share of additional work must be reported as slower. Uses real
// workers and sessions.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>

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

using std::chrono::steady_clock;
namespace fs = std::filesystem;

struct Options {
  std::string device = "host";
  std::string kernel = "long";
  double slow_percent = 0;
  int comparisons = 50;
  int per_process = 1;  ///< comparisons before the processes are restarted
  double limit_ms = 1000;
  double seconds = 1e9;  ///< limit on all comparisons of one kernel
  fs::path state;

  [[nodiscard]] DeviceKind kind() const {
    return device == "cuda" ? DeviceKind::cuda : DeviceKind::host;
  }
};

/// Results of many comparisons.
struct Tally {
  std::map<std::string, int> verdicts;
  std::vector<double> ratios, rounds, spent_ms, sampling_ms, floors;
  double time_ns = 0;
  std::string conditions;
};

double share_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void print(const Options& options, const Tally& tally) {
  std::vector<double> away;
  const double center = share_of(tally.ratios, 0.5);
  for (const auto ratio : tally.ratios) away.push_back(std::abs(std::log(ratio / center)));
  std::string verdicts;
  for (const auto& [verdict, count] : tally.verdicts)
    verdicts += fmt::format("{}{} {}", verdicts.empty() ? "" : ", ", count, verdict);
  fmt::print(
      "{} {} +{} %: {} comparisons: {}; kernel {:.2f} us; ratio median {:.4f}, scatter p68 "
      "{:.3f} %, p95 {:.3f} %, most {:.3f} %; noise floor {:.2f} %; rounds median {:.0f}, p95 "
      "{:.0f}; session {:.0f} ms median, {:.0f} ms p95, {:.0f} ms most, of it sampling {:.0f} ms "
      "median; {}\n",
      options.device, options.kernel, options.slow_percent, tally.ratios.size(), verdicts,
      tally.time_ns / 1e3, center, 100 * share_of(away, 0.68), 100 * share_of(away, 0.95),
      100 * share_of(away, 1), 100 * share_of(tally.floors, 0.5), share_of(tally.rounds, 0.5),
      share_of(tally.rounds, 0.95), share_of(tally.spent_ms, 0.5), share_of(tally.spent_ms, 0.95),
      share_of(tally.spent_ms, 1), share_of(tally.sampling_ms, 0.5), tally.conditions);
}

/// Compares two kernels in session after session, restarting their processes now and then.
class Comparer {
 public:
  Comparer(const Options& options, const fs::path& programs, const fs::path& data, Builder& builder,
           PythonForkServer& python, Subject subject, DeviceInfo device)
      : options_(options),
        parts_{{programs, options.kind(), 0, std::chrono::milliseconds(60'000)},
               builder,
               python,
               data},
        subject_(std::move(subject)),
        device_(std::move(device)) {}

  Result<Tally> run();

 private:
  Result<std::string> library(const Source& source);
  Status renew();
  Status compare_once(Tally& tally);

  const Options& options_;
  ReferenceParts parts_;
  Subject subject_;
  DeviceInfo device_;
  CallContext call_;
  std::optional<ArenaSource> source_;
  std::vector<std::string> libraries_;
  std::vector<CandidateProcess> processes_;
  std::optional<NoiseProfile> noise_;
};

Result<std::string> Comparer::library(const Source& source) {
  auto build = parts_.builder.build(kernel_build(subject_.contract, source), call_);
  if (!build) return build.error();
  if (!build->ok)
    return Error{ErrorCode::internal, build->errors.empty() ? "?" : build->errors.front().message,
                 ""};
  const auto path = parts_.builder.path_of(build->build_key);
  if (!path) return path.error();
  return read_file(*path);
}

Status Comparer::renew() {
  processes_.clear();
  auto source = ArenaSource::open(parts_, subject_.contract, libraries_.size(), call_);
  if (!source) return source.error();
  source_.emplace(*std::move(source));
  const auto arena = largest_arena(subject_.contract);
  if (!arena) return arena.error();
  const std::int64_t bytes = *arena * (TimedArenas::kMost + 1);
  for (std::size_t i = 0; i < libraries_.size(); ++i) {
    auto process = CandidateProcess::launch(worker_spec(parts_.place, "candidate", bytes),
                                            parts_.place.job_deadline);
    if (!process) return process.error();
    processes_.push_back(*std::move(process));
  }
  for (std::size_t i = 0; i < libraries_.size(); ++i)
    if (auto loaded = processes_[i].load({libraries_[i], {"kernel", "solve", ""}}, call_); !loaded)
      return loaded;
  noise_ = stored_noise(options_.state, device_);
  return {};
}

Status Comparer::compare_once(Tally& tally) {
  SessionPlan plan;
  plan.noise = noise_;
  plan.time_limit = std::chrono::milliseconds(static_cast<long>(options_.limit_ms));
  const std::vector<Contestant> contestants{{"candidate", &processes_[0]},
                                            {"other", &processes_[1]}};
  auto arenas = source_->arenas(subject_.contract.cases.front().dims,
                                std::to_string(tally.ratios.size()), call_);
  if (!arenas) return arenas.error();
  const auto start = steady_clock::now();
  auto session = TimingSession(**arenas, plan).run(contestants, call_);
  if (!session) return session.error();
  const std::chrono::duration<double, std::milli> spent = steady_clock::now() - start;
  const auto& reasons = session->contestants.front().reasons;
  if (!reasons.empty()) return Error{ErrorCode::internal, reasons.front().message, ""};
  const auto compared = comparison_of(*session, 1);
  const auto timing = timing_of(*session, 0, plan);
  if (!compared) return compared.error();
  if (!timing) return timing.error();
  ++tally.verdicts[std::string(name_of(compared->verdict))];
  tally.ratios.push_back(compared->speedup);
  tally.rounds.push_back(compared->pairs);
  tally.floors.push_back(compared->noise_floor);
  tally.spent_ms.push_back(spent.count());
  tally.sampling_ms.push_back(session->sampling_ms);
  tally.time_ns = timing->median.value;
  tally.conditions = timing->conditions;
  return {};
}

Result<Tally> Comparer::run() {
  auto slowed = library(subject_.slowed);
  if (!slowed) return slowed.error();
  auto plain = library(subject_.contract.kernel);
  if (!plain) return plain.error();
  libraries_ = {*std::move(slowed), *std::move(plain)};
  Tally tally;
  const auto begin = steady_clock::now();
  for (int i = 0; i < options_.comparisons; ++i) {
    const std::chrono::duration<double> spent = steady_clock::now() - begin;
    if (i > 0 && spent.count() > options_.seconds) break;
    if (i % options_.per_process == 0)
      if (auto renewed = renew(); !renewed) return renewed.error();
    if (auto done = compare_once(tally); !done) return done.error();
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

/// The device as a worker of its own reports it.
Result<DeviceInfo> device_of(const Options& options, const fs::path& programs) {
  auto worker = WorkerProcess::start(
      worker_spec({programs, options.kind(), 0, std::chrono::seconds(60)}, "candidate", 0), {});
  if (!worker) return worker.error();
  auto ready = decode_stored<wire::Reply>(worker->ready());
  if (!ready || !ready->device) return Error{ErrorCode::unavailable, "no usable device", ""};
  return *std::move(ready->device);
}

Status measure(const Options& options) {
  const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path data = programs.parent_path() / "share" / "ratchet";
  if (auto done = calibrate(options, programs, data); !done) return done;
  auto builder = Builder::open({.cache = options.state / "builds",
                                .find_toolchain = [] { return find_toolchain("python3"); },
                                .programs = programs});
  if (!builder) return builder.error();
  PythonForkServer python({"python3", data, programs, options.kind()});
  auto subject = make_subject(options.kind(), options.kernel, options.slow_percent);
  subject.contract.arch = "native";
  const auto device = device_of(options, programs);
  if (!device) return device.error();
  if (options.kind() == DeviceKind::cuda) subject.contract.arch = device->arch;
  auto tally =
      Comparer(options, programs, data, *builder, python, std::move(subject), *device).run();
  if (!tally) return tally.error();
  print(options, *tally);
  return {};
}

}  // namespace
}  // namespace ratchet::bench

/// Prints one line per kernel. Without options: host, both kernels against themselves.
int main(int argc, char** argv) try {
  ratchet::bench::Options options;
  std::vector<std::string> kernels{"long", "short"};
  CLI::App app("Error rates of timing comparisons", "bench-time");
  app.add_option("--device", options.device, "host or cuda");
  app.add_option("--kernel", kernels, "long, short");
  app.add_option("--slow", options.slow_percent, "additional work of one side, in percent");
  app.add_option("--comparisons", options.comparisons);
  app.add_option("--per-process", options.per_process,
                 "comparisons before processes are restarted");
  app.add_option("--seconds", options.seconds,
                 "time after which no further comparison of a kernel starts");
  app.add_option("--limit-ms", options.limit_ms, "time limit of one comparison");
  bool print_source = false;
  app.add_flag("--print-source", print_source,
               "print only the source of the kernel with additional work");
  app.add_option("--state", options.state, "folder for builds and calibration");
  CLI11_PARSE(app, argc, argv);
  if (print_source) {
    fmt::print("{}",
               ratchet::bench::make_subject(options.kind(), kernels.front(), options.slow_percent)
                   .slowed.text);
    return EXIT_SUCCESS;
  }
  const bool own_state = options.state.empty();
  namespace fs = std::filesystem;
  if (own_state)
    options.state = fs::temp_directory_path() / fmt::format("bench-time-{}", ::getpid());
  int status = EXIT_SUCCESS;
  for (const auto& kernel : kernels) {
    options.kernel = kernel;
    if (auto done = ratchet::bench::measure(options); !done) {
      fmt::print(stderr, "bench-time: {} {}\n", done.error().message, done.error().hint);
      status = EXIT_FAILURE;
    }
  }
  std::error_code ignored;
  if (own_state) fs::remove_all(options.state, ignored);
  return status;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench-time: %s\n", error.what());
  return EXIT_FAILURE;
}
