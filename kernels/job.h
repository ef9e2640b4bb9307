#pragma once

// What the server and a worker process say to each other. Messages are JSON encoded by these field
// lists over a private socket; bulk data travels beside them as sealed memory files.
//
// A worker plays one role for its whole life:
//   judge      makes inputs, runs C++/CUDA references, compares; knows expected values
//   candidate  runs one untrusted kernel; knows neither seeds nor expected values
//
// All buffers of one case live in one *arena*: a block with a guard band before and after every
// buffer. The judge fills it (inputs, poison in the outputs, random guards); the candidate copies
// it in, calls the kernel once and copies it back whole; the judge then checks guards, inputs and
// outputs from the raw bytes. So the candidate's process never holds anything worth stealing.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/findings.h"

namespace ratchet::job {

/// One buffer inside an arena; offsets and sizes in bytes.
struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  Role role = Role::in;
  std::string init;
  std::int64_t offset = 0;
  std::int64_t elements = 0;

  [[nodiscard]] std::int64_t bytes() const { return elements * size_of(dtype); }

  static constexpr auto fields() {
    return std::tuple{
        required("name", &Buffer::name, ""),     required("dtype", &Buffer::dtype, ""),
        required("role", &Buffer::role, ""),     required("init", &Buffer::init, ""),
        required("offset", &Buffer::offset, ""), required("elements", &Buffer::elements, "")};
  }
};

/// Guard bands stand before the first buffer, between buffers and after the last one.
struct ArenaLayout {
  std::int64_t bytes = 0;
  std::vector<Buffer> buffers;

  static constexpr auto fields() {
    return std::tuple{required("bytes", &ArenaLayout::bytes, ""),
                      required("buffers", &ArenaLayout::buffers, "")};
  }
};

inline constexpr std::int64_t kGuardBytes = 4096;
inline constexpr std::int64_t kAlignment = 512;  // more than any vector load or TMA descriptor asks

/// One argument of the entry function: a buffer's offset in the arena, or a value.
struct Argument {
  ParameterKind kind = ParameterKind::tensor;
  DType dtype = DType::f32;
  std::int64_t offset = 0;   ///< tensor
  std::int64_t integer = 0;  ///< dim, and integer scalars
  double real = 0;           ///< floating scalars

  static constexpr auto fields() {
    return std::tuple{
        required("kind", &Argument::kind, ""), required("dtype", &Argument::dtype, ""),
        required("offset", &Argument::offset, ""), required("integer", &Argument::integer, ""),
        required("real", &Argument::real, "")};
  }
};

/// Loads a shared library and finds its entry. Once per worker. Descriptor sent along: the library,
/// so that the worker needs no path into the build cache and runs the very bytes that were hashed.
struct Load {
  std::string library;  ///< its name, for messages
  std::string entry;

  static constexpr auto fields() {
    return std::tuple{required("library", &Load::library, ""), required("entry", &Load::entry, "")};
  }
};

/// Calls the entry once on an arena. Descriptors sent along: arena in, arena out.
struct Execute {
  ArenaLayout layout;
  std::vector<Argument> arguments;
  std::int64_t shift = 0;  ///< bytes by which the arena is moved from its allocation's start

  static constexpr auto fields() {
    return std::tuple{required("layout", &Execute::layout, ""),
                      required("arguments", &Execute::arguments, ""),
                      required("shift", &Execute::shift, "")};
  }
};

/// Prepares timing: uploads the rotating arenas. Descriptors sent along: one arena each. Sent again,
/// it replaces the arenas: other contents at other addresses.
struct Prepare {
  ArenaLayout layout;
  std::vector<Argument> arguments;
  int rotation = 1;        ///< number of arenas
  std::int64_t shift = 0;  ///< bytes by which every arena is moved from its allocation's start
  bool writes_all = true;  ///< each call writes every output element: what stays poisoned is missing

  static constexpr auto fields() {
    return std::tuple{required("layout", &Prepare::layout, ""),
                      required("arguments", &Prepare::arguments, ""),
                      required("rotation", &Prepare::rotation, ""),
                      required("shift", &Prepare::shift, ""),
                      required("writes_all", &Prepare::writes_all, "")};
  }
};

/// Takes a block of samples, after `warmup` untimed calls. One turn in an interleaved comparison.
struct TimeBlock {
  int warmup = 0;
  int samples = 1;
  CacheMode cache_mode = CacheMode::cold;
  bool host_time = false;
  double time_limit_ms = 1000;

  static constexpr auto fields() {
    return std::tuple{required("warmup", &TimeBlock::warmup, ""),
                      required("samples", &TimeBlock::samples, ""),
                      required("cache_mode", &TimeBlock::cache_mode, ""),
                      required("host_time", &TimeBlock::host_time, ""),
                      required("time_limit_ms", &TimeBlock::time_limit_ms, "")};
  }
};

/// Returns the arenas after timing, so that timed outputs can be checked. Descriptor: one arena
/// out.
struct Collect {
  int index = 0;  ///< which of the rotation

  static constexpr auto fields() { return std::tuple{required("index", &Collect::index, "")}; }
};

/// Reads hardware counters of one call. Never in a process that times.
struct Count {
  std::string metric_set;
  std::vector<std::string> metrics;  ///< names; resolved per chip

  static constexpr auto fields() {
    return std::tuple{required("metric_set", &Count::metric_set, ""),
                      required("metrics", &Count::metrics, "")};
  }
};

/// Makes the content of an arena. Descriptor: the arena to fill.
struct Generate {
  ArenaLayout layout;
  std::string seed;              ///< hex; derived from the run's secret
  std::string distribution;      ///< normal, shifted, large
  std::int64_t index_limit = 0;  ///< exclusive bound of untyped integer inputs

  static constexpr auto fields() {
    return std::tuple{required("layout", &Generate::layout, ""),
                      required("seed", &Generate::seed, ""),
                      required("distribution", &Generate::distribution, ""),
                      required("index_limit", &Generate::index_limit, "")};
  }
};

/// How a tolerance's `atol` follows the RMS of the expected output: not at all, times min(1, RMS),
/// times RMS.
enum class AtolScale { absolute, shrink, rms };
constexpr auto enum_names(AtolScale) {
  return std::array{std::pair{AtolScale::absolute, "absolute"},
                    std::pair{AtolScale::shrink, "shrink"}, std::pair{AtolScale::rms, "rms"}};
}

/// When an element of an output counts as right: |got - expected| <= atol * scale + rtol *
/// |expected|, or the same value when `exact`. NaN and infinity only against the same.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
  AtolScale scale = AtolScale::absolute;
  bool exact = true;

  static constexpr auto fields() {
    return std::tuple{
        required("atol", &Tolerance::atol, ""), required("rtol", &Tolerance::rtol, ""),
        required("scale", &Tolerance::scale, ""), required("exact", &Tolerance::exact, "")};
  }
};

/// Compares. Descriptors: arena as it was sent, arena that came back, arena with expected outputs.
struct Compare {
  ArenaLayout layout;
  std::vector<Tolerance> tolerances;  ///< parallel to the layout's buffers; unused for inputs

  static constexpr auto fields() {
    return std::tuple{required("layout", &Compare::layout, ""),
                      required("tolerances", &Compare::tolerances, "")};
  }
};

/// Measures the roofs of the device.
struct MeasureCeilings {
  static constexpr auto fields() { return std::tuple<>{}; }
};

/// Raw samples in launch order.
struct Samples {
  std::vector<double> elapsed_ns;
  std::vector<double> clock_mhz;   ///< parallel to elapsed_ns, or empty when the device cannot tell
  std::vector<std::string> flags;  ///< launch_gap_included, unsynchronised_work, …
  bool time_limit_hit = false;

  static constexpr auto fields() {
    return std::tuple{required("elapsed_ns", &Samples::elapsed_ns, ""),
                      required("clock_mhz", &Samples::clock_mhz, ""),
                      required("flags", &Samples::flags, ""),
                      required("time_limit_hit", &Samples::time_limit_hit, "")};
  }
};

/// What a call launched, seen from outside the kernel (CUPTI Activity).
struct LaunchRecord {
  std::string kernel;
  double start_ns = 0;
  double end_ns = 0;
  std::vector<int> grid;
  std::vector<int> block;
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t stream = 0;

  static constexpr auto fields() {
    using L = LaunchRecord;
    return std::tuple{required("kernel", &L::kernel, ""),
                      required("start_ns", &L::start_ns, ""),
                      required("end_ns", &L::end_ns, ""),
                      required("grid", &L::grid, ""),
                      required("block", &L::block, ""),
                      required("registers", &L::registers, ""),
                      required("static_shared_bytes", &L::static_shared_bytes, ""),
                      required("dynamic_shared_bytes", &L::dynamic_shared_bytes, ""),
                      required("stream", &L::stream, "")};
  }
};

struct Counters {
  std::vector<KernelCounters> kernels;  ///< merged with launch facts as launch__* metrics
  std::vector<LaunchRecord> launches;
  std::vector<std::string> unknown_metrics;
  std::string engine;                      ///< cupti, perf_event or none
  std::string cache;                       ///< flushed or as_is
  std::optional<std::string> unavailable;  ///< why there are no counters, and how to get them

  static constexpr auto fields() {
    using C = Counters;
    return std::tuple{required("kernels", &C::kernels, ""),
                      required("launches", &C::launches, ""),
                      required("unknown_metrics", &C::unknown_metrics, ""),
                      required("engine", &C::engine, ""),
                      required("cache", &C::cache, ""),
                      optional("unavailable", &C::unavailable, "")};
  }
};

struct CeilingValue {
  std::string what;
  double value = 0;
  std::string unit;

  static constexpr auto fields() {
    return std::tuple{required("what", &CeilingValue::what, ""),
                      required("value", &CeilingValue::value, ""),
                      required("unit", &CeilingValue::unit, "")};
  }
};

/// What else is wrong with one output, beside its distance from the expected values.
struct OutputState {
  std::int64_t unwritten = 0;    ///< wrong elements that still hold the poison they were sent with
  std::int64_t unexpected = 0;   ///< NaN or infinity where the expected value is another one

  static constexpr auto fields() {
    return std::tuple{required("unwritten", &OutputState::unwritten, ""),
                      required("unexpected", &OutputState::unexpected, "")};
  }
};

/// Verdict of one Compare.
struct Comparison {
  bool guards_intact = true;
  bool inputs_intact = true;
  std::optional<std::string> touched;  ///< the buffer beside the broken guard, or the changed input
  bool passed = false;                 ///< all outputs within tolerance, guards and inputs intact
  std::vector<OutputError> outputs;
  std::vector<OutputState> states;  ///< parallel to `outputs`

  static constexpr auto fields() {
    using C = Comparison;
    return std::tuple{required("guards_intact", &C::guards_intact, ""),
                      required("inputs_intact", &C::inputs_intact, ""),
                      optional("touched", &C::touched, ""),
                      required("passed", &C::passed, ""),
                      required("outputs", &C::outputs, ""),
                      required("states", &C::states, "")};
  }
};

/// Server to worker: exactly one member is set.
struct Request {
  std::optional<Load> load;
  std::optional<Execute> execute;
  std::optional<Prepare> prepare;
  std::optional<TimeBlock> time;
  std::optional<Collect> collect;
  std::optional<Count> count;
  std::optional<Generate> generate;
  std::optional<Compare> compare;
  std::optional<MeasureCeilings> ceilings;

  static constexpr auto fields() {
    using R = Request;
    return std::tuple{optional("load", &R::load, ""),         optional("execute", &R::execute, ""),
                      optional("prepare", &R::prepare, ""),   optional("time", &R::time, ""),
                      optional("collect", &R::collect, ""),   optional("count", &R::count, ""),
                      optional("generate", &R::generate, ""), optional("compare", &R::compare, ""),
                      optional("ceilings", &R::ceilings, "")};
  }
};

/// Worker to server. The first reply, unasked, is READY: `device` set.
/// `fault`: the kernel's doing. `error`: ours (out of memory for our own buffers, no device).
struct Reply {
  std::optional<Fault> fault;
  std::optional<std::string> error;
  std::optional<DeviceInfo> device;
  std::optional<std::string> sandbox;
  std::optional<Samples> samples;
  std::optional<Counters> counters;
  std::optional<Comparison> comparison;
  std::optional<std::vector<CeilingValue>> ceilings;

  static constexpr auto fields() {
    using R = Reply;
    return std::tuple{
        optional("fault", &R::fault, ""),           optional("error", &R::error, ""),
        optional("device", &R::device, ""),         optional("sandbox", &R::sandbox, ""),
        optional("samples", &R::samples, ""),       optional("counters", &R::counters, ""),
        optional("comparison", &R::comparison, ""), optional("ceilings", &R::ceilings, "")};
  }
};

}  // namespace ratchet::job
