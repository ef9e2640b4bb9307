// Runs one step of the CUDA device on one test kernel and prints the result as JSON; checks.py
// combines the steps. One process per step, as in real use, because context errors persist.
//
//   gpu-driver info | ceilings | overhead
//   gpu-driver run|time|time-hot|time-host|spans LIBRARY ENTRY
//   gpu-driver count LIBRARY ENTRY METRIC…
//   gpu-driver count-set LIBRARY ENTRY lean|overview|full|stalls
//   gpu-driver reads LIBRARY ENTRY    DRAM bytes of a timed call, and of the first one on new
//   memory gpu-driver sample LIBRARY ENTRY PERIOD_LOG2 CALLS gpu-driver judge LIBRARY ENTRY
//   compares kernels/cuda/judge.cu (the library) with compare.cpp
//
// RATCHET_SANDBOX=candidate|counter runs behind that role's walls, as a worker does.

#include <dlfcn.h>
#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "kernels/confine/walls.h"
#include "kernels/counters/metrics.h"
#include "kernels/measure/timer.h"
#include "kernels/worker/device.h"
#include "server/core/fd.h"
#include "tests/gpu/judges.h"

namespace {

using ratchet::Json;
using ratchet::worker::Device;
using Entry = void (*)(const float*, float*, long, void*);

constexpr long kElements = 4096L * 4096;
constexpr long kLarge = 8;  // factor on the elements of entries named large_…
constexpr int kRotation = 3;
constexpr int kSamples = 100;
constexpr int kObservations = 15;

[[noreturn]] void stop(const ratchet::Error& error) {
  std::cout << Json{{"error", error.message}, {"hint", error.hint}}.dump() << "\n";
  std::exit(1);
}

template <class T>
T need(ratchet::Result<T> result) {
  if (!result) stop(result.error());
  return *std::move(result);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct TestKernel {
  Entry entry;
  long elements;
};

/// Input and output in one arena, as in a worker.
struct Case {
  std::unique_ptr<ratchet::worker::DeviceArena> arena;
  ratchet::worker::Turn turn;
};

/// Pseudo-random numbers between -2 and 2 from a fast generator.
std::vector<float> make_input(long elements) {
  std::vector<float> input(static_cast<std::size_t>(elements));
  std::uint32_t state = 7;
  for (auto& value : input) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<std::int32_t>(state)) / 0x1p30F;
  }
  return input;
}

std::vector<Case> make_cases(Device& device, const TestKernel& kernel, int count) {
  const auto input = make_input(kernel.elements);
  const auto half = static_cast<std::int64_t>(input.size() * sizeof(float));
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) {
    auto arena = need(device.allocate(2 * half, std::int64_t{512} * i));
    const auto bytes = std::as_bytes(std::span(input));
    if (auto copied = device.upload(*arena, 0, bytes); !copied) stop(copied.error());
    auto* in = reinterpret_cast<const float*>(arena->base());
    auto* out = reinterpret_cast<float*>(arena->base() + half);
    ratchet::worker::Turn turn;
    turn.call = [kernel, in, out, stream = device.stream()] {
      kernel.entry(in, out, kernel.elements, stream);
    };
    turn.memory = {arena->base(), static_cast<std::size_t>(2 * half)};
    cases.push_back({std::move(arena), std::move(turn)});
  }
  return cases;
}

Json fault_json(const std::optional<ratchet::Fault>& fault) {
  return fault ? ratchet::encode(*fault) : Json(nullptr);
}

Json time_step(Device& device, const TestKernel& kernel, ratchet::CacheMode mode, bool host_time) {
  const auto cases = make_cases(device, kernel, kRotation);
  std::vector<ratchet::worker::Turn> turns;
  for (const auto& one : cases) turns.push_back(one.turn);
  ratchet::wire::TimeBlock plan{.warmup = 5,
                                .samples = kSamples,
                                .cache_mode = mode,
                                .host_time = host_time,
                                .time_limit_ms = 5000};
  const auto timed = need(device.time(turns, plan));
  auto sorted = timed.samples.elapsed_ns;
  std::sort(sorted.begin(), sorted.end());
  return {{"fault", fault_json(timed.fault)},
          {"samples", sorted.size()},
          {"median_ns", median(sorted)},
          {"min_ns", sorted.empty() ? 0 : sorted.front()},
          {"max_ns", sorted.empty() ? 0 : sorted.back()},
          {"clock_mhz", median(timed.samples.clock_mhz)},
          {"clocks", timed.samples.clock_mhz.size()},
          {"flags", timed.samples.flags}};
}

Json count_step(Device& device, const TestKernel& kernel, const std::vector<std::string>& metrics,
                std::optional<ratchet::wire::Sampling> sampling = std::nullopt, int places = 1) {
  const auto begin = std::chrono::steady_clock::now();
  const auto cases = make_cases(device, kernel, places);
  std::vector<ratchet::worker::Turn> turns;
  for (const auto& one : cases) turns.push_back(one.turn);
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::duration<double, std::milli> inputs = start - begin;
  const auto counted = need(device.count(turns, {.metrics = metrics, .sampling = sampling}));
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  Json json = ratchet::encode(counted.counters);
  json["spent_ms"] = spent.count();
  json["inputs_ms"] = inputs.count();  // a worker receives its inputs
  json["asked"] = metrics;
  json["fault"] = fault_json(counted.fault);
  return json;
}

/// Device time of all launches of a cold call according to activity records; median of several
/// calls.
Json spans_step(Device& device, const TestKernel& kernel) {
  const auto cases = make_cases(device, kernel, 1);
  std::vector<double> spans;
  for (int i = 0; i < kObservations; ++i) {
    const auto counted = need(device.count({&cases[0].turn, 1}, {}));
    if (counted.counters.unavailable) return {{"unavailable", *counted.counters.unavailable}};
    double first = 0, last = 0;
    for (const auto& launch : counted.counters.launches) {
      first = first > 0 ? std::min(first, launch.start_ns) : launch.start_ns;
      last = std::max(last, launch.end_ns);
    }
    spans.push_back(last - first);
  }
  return {{"span_ns", median(spans)}};
}

Json step(Device& device, const std::string& what, const std::vector<std::string>& arguments) {
  if (what == "ceilings") {
    Json json = Json::array();
    for (const auto& roof : need(device.ceilings())) json.push_back(ratchet::encode(roof));
    return json;
  }
  if (arguments.size() < 2)
    stop({ratchet::ErrorCode::invalid_argument, "LIBRARY ENTRY missing", ""});
  void* library = dlopen(arguments[0].c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) stop({ratchet::ErrorCode::not_found, dlerror(), ""});
  const TestKernel kernel{reinterpret_cast<Entry>(dlsym(library, arguments[1].c_str())),
                          kElements * (arguments[1].starts_with("large_") ? kLarge : 1)};
  if (!kernel.entry) stop({ratchet::ErrorCode::not_found, dlerror(), ""});
  if (what == "judge")
    return ratchet::test::compare_judges(device, reinterpret_cast<void*>(kernel.entry));
  if (what == "run") {
    const auto cases = make_cases(device, kernel, 1);
    for (int i = 0; i < 5; ++i)
      if (auto fault = device.run(cases[0].turn.call)) return {{"fault", fault_json(fault)}};
    return {{"fault", nullptr}};
  }
  if (what == "time") return time_step(device, kernel, ratchet::CacheMode::cold, false);
  if (what == "time-hot") return time_step(device, kernel, ratchet::CacheMode::hot, false);
  if (what == "time-host") return time_step(device, kernel, ratchet::CacheMode::cold, true);
  if (what == "spans") return spans_step(device, kernel);
  if (what == "count") return count_step(device, kernel, {arguments.begin() + 2, arguments.end()});
  if (what == "reads")
    return count_step(device, kernel, {"dram__bytes_read.sum"}, std::nullopt, kRotation);
  if (what == "count-set" && arguments.size() == 3) {
    const auto set = need(ratchet::decode<ratchet::MetricSet>(Json(arguments[2])));
    return count_step(device, kernel, ratchet::metric_names(set, ratchet::DeviceKind::cuda));
  }
  if (what == "sample" && arguments.size() == 4)
    return count_step(device, kernel, {},
                      ratchet::wire::Sampling{std::stoi(arguments[2]), std::stoi(arguments[3])});
  stop({ratchet::ErrorCode::invalid_argument, "unknown step " + what, ""});
}

Json overhead_step() {
  const auto gpu = need(ratchet::measure::Gpu::open(0));
  return {{"overhead_ns", need(ratchet::measure::Timer::create(*gpu))->overhead_ns()}};
}

std::vector<std::string> device_nodes() {
  std::vector<std::string> nodes;
  std::error_code failed;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("/dev", failed))
    if (entry.is_character_file(failed) || entry.is_block_file(failed))
      nodes.push_back(entry.path().string());
  return nodes;
}

/// Those of the nodes that this process can open.
Json openable(const std::vector<std::string>& nodes) {
  Json names = Json::array();
  for (const auto& path : nodes)
    if (ratchet::Fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)))
      names.push_back(path);
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string what = argv[1];
  if (what == "overhead") {
    std::cout << overhead_step().dump() << "\n" << std::flush;
    return 0;
  }
  const auto device = ratchet::worker::make_device();
  if (what.starts_with("count")) device->prepare_to_count();
  std::optional<ratchet::confine::Walls> walls;
  std::vector<std::string> nodes;
  if (const char* role = std::getenv("RATCHET_SANDBOX")) {
    nodes = device_nodes();
    walls.emplace(ratchet::confine::parse_role(role).value(), ratchet::DeviceKind::cuda,
                  std::vector<std::string>{}, std::filesystem::current_path().string());
    walls->enter();
  }
  const auto info = need(device->open(0));
  Json json;
  if (walls) {
    walls->seal();
    json["sandbox"] = walls->text();
    json["opens"] = openable(nodes);
  }
  if (what == "info")
    json["device"] = ratchet::encode(info);
  else
    json["result"] = step(*device, what, {argv + 2, argv + argc});
  std::cout << json.dump() << "\n" << std::flush;
  ::_exit(0);  // like a worker, without tearing down a broken context
}
