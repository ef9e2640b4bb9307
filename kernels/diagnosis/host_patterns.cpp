// Patterns of a kernel on a processor: from what the operating system says about a call, from the
// sampled instructions (kernels/counters/hot_code.h), and from hardware counters where there are
// any.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/diagnosis/diagnosis_patterns.h"

namespace ratchet {
namespace {

// Above this number of cores used, a kernel has threads.
constexpr double kOneThread = 1.15;
// Share of one core's copy ceiling from which one thread is limited by it.
constexpr double kCoreMemoryBound = 0.55;
// Share of a ceiling from which loops are limited by it that stream, and such as wait for their own
// results.
constexpr double kStreamingBound = 0.25;
constexpr double kWaitingBound = 0.8;
// Share of the samples from which the loops stream.
constexpr double kMostStreaming = 0.6;
// Share of the samples from which one cause explains the time.
constexpr double kMostTime = 0.4;
// … from which atomics do.
constexpr double kMostAtomics = 0.2;
// Loops over less than this stay in the first-level caches.
constexpr double kNearBytes = 64e3;

// Share of the time without a core from which neighbors are named.
constexpr double kHeld = 0.1;

class HostRules {
 public:
  HostRules(const DiagnosisInput& input, const Metrics& metrics, Findings& findings)
      : input_(input), metrics_(metrics), findings_(findings) {}

  void apply() {
    memory();
    interpreter();
    page_faults();
    threads();
    loads();
    code();
    one_thread();
    counted_misses();
    neighbors();
  }

 private:
  [[nodiscard]] double value(const char* name) const { return metrics_[name].value_or(0); }
  [[nodiscard]] double share(const char* name) const { return value(name) / 100; }
  [[nodiscard]] static std::string percent(std::string_view name, double share) {
    return shown(name, 100 * share) + " %";
  }
  [[nodiscard]] bool sampled() const { return value("samples") >= 20; }

  /// Part of the wall time in which threads were ready but had no core.
  [[nodiscard]] double held() const {
    const double wall = value("duration_time");
    return wall > 0 ? std::min(1.0, value("run_delay") / wall) : 0;
  }

  /// Of the samples in which the first thread did not wait for others. Where neighbors hold the
  /// cores, those waits are not the kernel's.
  [[nodiscard]] double work_share(const char* name) const {
    const double waited = held() > kHeld ? share("samples_in_threads.pct") : 0;
    return std::min(1.0, share(name) / std::max(0.03, 1 - waited));
  }

  /// By what neighbors stretched the call: its time over the first thread's work.
  [[nodiscard]] double stretch() const {
    const double work = value("first_thread_time") * (1 - share("samples_in_threads.pct"));
    const double median = input_.timing.median.value;
    return held() > kHeld && work > 0 ? std::max(1.0, median / work) : 1;
  }

  /// Threads that worked on average; empty if unknown.
  [[nodiscard]] std::optional<double> cores_used() const {
    const double cpu = value("user_time") + value("system_time");
    const double first = value("first_thread_time");
    if (first <= 0 || cpu <= 0) return std::nullopt;
    return cpu / first;
  }
  /// Of the processor time, what the operating system takes.
  [[nodiscard]] double system_share() const {
    const double cpu = value("user_time") + value("system_time");
    return cpu > 0 ? value("system_time") / cpu : 0;
  }
  [[nodiscard]] double cores() const { return std::max(1, input_.device.multiprocessors); }

  void neighbors() {
    if (held() < kHeld) return;
    findings_.add(
        "host-neighbors", "Other processes hold the cores: times are not the kernel's own",
        {percent("waited for a core", held()),
         shown("involuntary context switches per call", value("involuntary-context-switches"))},
        0, held() / kHeld);
  }

  void memory() {
    const auto declared = input_.roofline.bandwidth_fraction;
    const bool random = work_share("indirect_loads.pct") > kMostTime;
    std::vector<std::string> evidence;
    // Loops that do little with what they move may move it more than once.
    const bool streams = work_share("streaming.pct") > kMostStreaming;
    // What waits for its own results may not even touch all of the tensors.
    const bool waits = work_share("dependency_chain.pct") > kMostTime;
    const auto limit_of = [&](double usual) {
      return waits ? kWaitingBound : streams ? kStreamingBound : usual;
    };
    double reached = 0, limit = limit_of(kHostMemoryBound);
    if (declared) {
      reached = *declared * stretch();
      evidence.push_back(shown("share of the bandwidth ceiling", reached));
    } else if (metrics_["tensor_bandwidth.pct"] && !random) {
      reached = share("tensor_bandwidth.pct") * stretch();
      evidence.push_back(shown("share of the bandwidth ceiling, each tensor moved once", reached));
    }
    const auto used = cores_used();
    const double core = share("tensor_bandwidth_core.pct") * stretch();
    const double core_limit = limit_of(kCoreMemoryBound);
    if (used && *used <= kOneThread && !random && core / core_limit > reached / limit) {
      reached = core;
      limit = core_limit;
      evidence = {shown("share of one core's copy ceiling, each tensor moved once", core)};
    }
    if (reached <= limit) return;
    memory_bound_ = true;
    if (streams)
      evidence.push_back(percent("samples in packed loops that move as much as they calculate",
                                 work_share("streaming.pct")));
    findings_.add("host-memory-bandwidth", "Memory bandwidth is near its ceiling",
                  std::move(evidence), std::max(0.0, 1 - reached), reached / limit);
  }

  void interpreter() {
    const double python = share("samples_in_python.pct");
    if (!sampled() || python < 0.15) return;
    findings_.add("host-interpreter", "The Python interpreter takes the time",
                  {percent("samples in the interpreter", python),
                   percent("in libraries that it calls", share("samples_in_libraries.pct"))},
                  std::min(1.0, python + 0.5 * share("samples_in_libraries.pct")), python / 0.15);
  }

  void page_faults() {
    const double faults = std::max(value("minor-faults"), value("page-faults"));
    const double system = system_share();
    if (faults < 64 || system < 0.15) return;
    // The operating system's share, and as much again: new pages are cold in every cache.
    findings_.add("host-page-faults", "New memory is touched in every call",
                  {shown("page faults per call", faults),
                   percent("processor time in the operating system", system)},
                  std::min(0.9, 1.5 * system), system / 0.15);
  }

  void threads() {
    const double waiting = share("samples_in_threads.pct");
    const bool many = value("thread_regions_in_loops") > 0;
    const double wall = value("duration_time");
    constexpr double kShortNs = 50'000;
    const bool overhead = many || wall < kShortNs;
    if (!sampled()) return;
    // A thread that waits for one without a core says nothing about the kernel.
    const bool disturbed = held() > 0.3;
    if (overhead && waiting >= 0.25 && (many || !disturbed))
      findings_.add("host-thread-overhead", "Starting and joining threads takes the time",
                    {percent("samples in the threads' runtime", waiting),
                     shown("places in loops that start threads", value("thread_regions_in_loops")),
                     shown("duration_time, ns", wall)},
                    waiting, waiting / 0.25);
    else if (!overhead)
      imbalance(waiting, disturbed);
  }

  /// By the work of all threads. Where only the first one was sampled, by its waiting, which is
  /// none where it has the most work.
  void imbalance(double waiting, bool disturbed) {
    const char* const title = "Threads wait for others with more work";
    if (metrics_["thread_work.pct"]) {
      const double missing = 1 - share("thread_work.pct");
      // A thread without a core, whose work others took, has less of it, but does not wait.
      if (missing > 0.25 && (!disturbed || share("thread_waits.pct") > missing / 2))
        findings_.add("host-imbalance", title,
                      {percent("work of an average thread, of the busiest's", 1 - missing),
                       shown("threads", value("threads"))},
                      missing, missing / 0.25);
    } else if (waiting >= 0.25 && !disturbed) {
      findings_.add("host-imbalance", title,
                    {percent("samples of the first thread in the threads' runtime", waiting)},
                    waiting / 2, waiting / 0.25);
    }
  }

  [[nodiscard]] bool beyond(double bytes) const {
    const auto tensors = metrics_["tensor_bytes"];
    return !tensors || *tensors > bytes;
  }

  void loads() {
    const double random = work_share("indirect_loads.pct");
    const double strided = work_share("strided_access.pct");
    const std::string note = metrics_["LLC-load-misses"]
                                 ? shown("LLC-load-misses", value("LLC-load-misses"))
                                 : "cache misses are not counted on this machine";
    // Atomics wait for each other's cores, in whatever order their places come.
    if (random > kMostTime && beyond(work_share("atomics.pct") > kMostAtomics ? 8e6 : 1e6))
      findings_.add("host-cache-miss", "Loads go where other loads say, and miss the caches",
                    {percent("samples in loops with such loads", random),
                     shown("bytes of all tensors", value("tensor_bytes")), note},
                    0.8 * random, 1.3);
    else if (strided > kMostTime && beyond(kNearBytes))
      findings_.add("host-strided-access", "Every turn of the hot loop touches another cache line",
                    {percent("samples in loops with such strides", strided), note}, 0.9 * strided,
                    1.5);
  }

  [[nodiscard]] bool explained() const {
    return findings_.has("host-cache-miss") || findings_.has("host-strided-access");
  }

  void code() {
    if (!sampled()) return;
    const double hot = work_share("hot_loops.pct");
    const double atomics = work_share("atomics.pct");
    if (atomics > kMostAtomics)
      findings_.add("host-atomics", "Threads update one place with locked instructions",
                    {percent("samples in loops with locked instructions", atomics)}, 0.9 * atomics,
                    atomics / kMostAtomics);
    const double math = work_share("samples_in_libm.pct");
    if (math > 0.25)
      findings_.add("host-math-calls", "Scalar calls of the math library",
                    {percent("samples in libm", math)}, 0.85 * math, math / 0.25);
    if (memory_bound_ || explained() || atomics > kMostAtomics) return;
    const double chain = work_share("dependency_chain.pct");
    if (chain > kMostTime)
      // Without the wait, the turn's instructions take a quarter of it.
      findings_.add("host-dependency-chain", "Each turn of the hot loop waits for the one before",
                    {percent("samples in loops with such chains", chain)}, 0.75 * chain,
                    chain / kMostTime);
    const double branches = work_share("branches.pct");
    const auto packed = metrics_["packed_arithmetic.pct"];
    const bool scalar = packed && *packed < 25 && hot > 0.3;
    if (branches > 0.5 && chain < kMostTime && (!packed || scalar)) branch_rule(branches);
    if (scalar && chain < kMostTime && !findings_.has("host-branches"))
      // Four to sixteen elements fit into a vector register.
      findings_.add("host-scalar-loop", "The hot loop calculates one element at a time",
                    {shown("packed share of the vector arithmetic, %", *packed),
                     percent("samples in loops", hot)},
                    0.8 * hot, 2);
    // One that is packed divides as many elements in little more time: first there is the packing.
    const double divisions = work_share("divisions.pct");
    if (divisions > kMostTime && !findings_.has("host-scalar-loop"))
      findings_.add("host-divisions", "Divisions and square roots in the hot loop",
                    {percent("samples in loops with them", divisions)}, 0.4 * divisions,
                    divisions / kMostTime);
  }

  void branch_rule(double branches) {
    const auto misses = metrics_["branch-misses"];
    const auto all = metrics_["branches"];
    if (misses && all && *all > 0) {
      if (*misses / *all > 0.02)
        findings_.add("host-branches", "Jumps in the hot loop are mispredicted",
                      {percent("mispredicted", *misses / *all)}, 0.7 * branches,
                      *misses / *all / 0.02);
      return;
    }
    findings_.add("host-branches", "The hot loop jumps by its data",
                  {percent("samples in loops with jumps inside", branches),
                   "mispredictions are not counted on this machine"},
                  0.8 * branches, 1.2);
  }

  void one_thread() {
    const auto used = cores_used();
    // The labeled kernels whose twins have threads lose so much to starting them.
    constexpr double kStartNs = 70'000;
    const double wall = value("duration_time");
    if (!used || *used > kOneThread || cores() < 2 || wall <= 0) return;
    const bool python = share("samples_in_python.pct") >= 0.15;
    const bool has_threads = share("samples_in_threads.pct") > 0.01;
    // A chain of loads, each with the address of the next, has only one thread's work.
    const bool serial = work_share("indirect_loads.pct") > kMostTime &&
                        work_share("dependency_chain.pct") > kMostTime;
    const bool saturated =
        input_.roofline.bandwidth_fraction.value_or(0) > 0.8 || share("tensor_bandwidth.pct") > 0.8;
    const double own = share("samples_in_kernel.pct") + work_share("samples_in_libm.pct");
    if (!sampled() || python || has_threads || serial || saturated || own < 0.5) return;
    // Of one process's threads the operating system serves the new pages one after the other.
    const double split = own * (memory_bound_ ? 0.3 : 1.0) * (1 - system_share());
    const double gain = (1 - 1 / cores()) * split - kStartNs / wall;
    if (gain < 0.05) return;
    findings_.add("host-single-thread", "One thread works, other cores are idle",
                  {shown("cores used", *used), shown("cores", cores())}, gain, 1.5);
  }

  void counted_misses() {
    const auto instructions = metrics_["instructions"];
    const auto cycles = metrics_["cycles"];
    const auto misses = metrics_["LLC-load-misses"];
    const auto memory = input_.roofline.bandwidth_fraction;
    if (!instructions || !cycles || !misses || *cycles <= 0 || *instructions <= 0) return;
    const double ipc = *instructions / *cycles;
    const double per_thousand = 1000 * *misses / *instructions;
    if (findings_.has("host-cache-miss") || memory_bound_ || ipc >= 0.7) return;
    if (per_thousand > 5)
      findings_.add("host-cache-miss", "Loads miss the caches and wait",
                    {shown("instructions per cycle", ipc),
                     shown("LLC load misses per 1,000 instructions", per_thousand)},
                    1 - memory.value_or(0), per_thousand / 5);
    const auto walks = metrics_["dTLB-load-misses"];
    if (walks && 1000 * *walks / *instructions > 5)
      findings_.add(
          "host-cache-miss", "Loads miss the table of pages",
          {shown("dTLB load misses per 1,000 instructions", 1000 * *walks / *instructions)}, 0.3,
          1000 * *walks / *instructions / 5);
  }

  const DiagnosisInput& input_;
  const Metrics& metrics_;
  Findings& findings_;
  bool memory_bound_ = false;
};

constexpr std::string_view kOneThreadFinding = "pattern-host-single-thread";

/// The class that a finding stands for.
constexpr std::array<std::pair<std::string_view, Bound>, 14> kClasses{{
    {"pattern-host-memory-bandwidth", Bound::memory},
    {"pattern-host-page-faults", Bound::memory},
    {"pattern-host-interpreter", Bound::launch},
    {"pattern-host-thread-overhead", Bound::launch},
    {"pattern-host-imbalance", Bound::occupancy},
    {kOneThreadFinding, Bound::occupancy},
    {"pattern-host-cache-miss", Bound::latency},
    {"pattern-host-strided-access", Bound::latency},
    {"pattern-host-atomics", Bound::latency},
    {"pattern-host-dependency-chain", Bound::latency},
    {"pattern-host-branches", Bound::latency},
    {"pattern-host-scalar-loop", Bound::compute},
    {"pattern-host-math-calls", Bound::compute},
    {"pattern-host-divisions", Bound::compute},
}};

}  // namespace

void host_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings) {
  HostRules(input, metrics, findings).apply();
}

HostClass host_class(const Metrics& metrics, std::span<const DiagnosisFinding> findings) {
  if (std::ranges::find(findings, "pattern-host-memory-bandwidth", &DiagnosisFinding::id) !=
      findings.end())
    return {Bound::memory, "pattern-host-memory-bandwidth"};
  HostClass idle;
  for (const auto& finding : findings) {
    const auto known =
        std::ranges::find(kClasses, finding.id, [](const auto& one) { return one.first; });
    if (known == kClasses.end()) continue;
    // That other cores are idle is the class only where nothing else is known: what limits the
    // thread that works would limit the others, too, however many cores there are.
    if (finding.id == kOneThreadFinding)
      idle = {known->second, finding.id};
    else if (idle.bound == Bound::unknown || finding.confidence != Confidence::low)
      return {known->second, finding.id};
  }
  if (idle.bound != Bound::unknown) return idle;
  const auto packed = metrics["packed_arithmetic.pct"];
  const double waited = metrics["samples_in_threads.pct"].value_or(0);
  if (packed && metrics["hot_loops.pct"].value_or(0) > (100 - waited) / 2)
    return {Bound::compute, "arithmetic in loops, " + shown("packed, %", *packed)};
  return {};
}

}  // namespace ratchet
