#include "kernels/lab/interventions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>

#include "kernels/contract/layout.h"
#include "kernels/diagnosis/intervention_plan.h"
#include "kernels/disassembly/machine_code.h"
#include "kernels/judge/trial_plan.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {
namespace {

/// Of each of two kernels, in rounds of two: twenty give intervals of a few per cent. Of long calls
/// there are fewer, eight at least.
int samples_of(double call_ns) {
  constexpr int kMost = 40;
  constexpr int kLeast = 16;
  constexpr double kBudget = 2e9;  // ns
  constexpr int kCalls = 4;        // of a sample: of both, each after one that is not timed
  const double fit = kBudget / (kCalls * std::max(call_ns, 1.0));
  return std::clamp(static_cast<int>(std::min<double>(fit, kMost)) / 2 * 2, kLeast, kMost);
}

// Under these values indices ascend and permutations are the identity; see generate.h.
constexpr const char* kInOrder = "small";
// -ffast-math without its start-up code, which would have subnormal numbers flushed to zero.
constexpr std::array kAnyOrder{"-fassociative-math", "-freciprocal-math", "-fno-signed-zeros",
                               "-fno-trapping-math", "-fno-math-errno",   "-ffinite-math-only",
                               "-D__FAST_MATH__"};  // glibc declares its vector functions then

/// Whether an input's elements say where others are read or written.
bool is_index(const TensorSpec& tensor) {
  if (tensor.role == Role::out) return false;
  return tensor.init == "permutation" || tensor.init.starts_with("indices") ||
         (tensor.init == "normal" && !is_floating(tensor.dtype));
}

bool has(std::span<const DiagnosisFinding> findings, std::string_view id) {
  return std::ranges::find(findings, id, &DiagnosisFinding::id) != findings.end();
}

/// The dims that are not those of the profile: "rows=1024, cols=2048".
std::string changed_dims(const Dims& size, const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : size)
    if (value != dims.at(name))
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

/// The call's only kernel, on a GPU.
const KernelCounters* lone_kernel(const Profile& profile, const DeviceInfo& device) {
  const bool lone =
      device.kind == DeviceKind::cuda && profile.launches == 1 && profile.kernels.size() == 1;
  return lone ? &profile.kernels.front() : nullptr;
}

/// Whether caches are to be warmed at another size: the largest that works says most; if it leaves
/// open what they save, one more is asked.
bool asks_again(bool further, std::span<const Intervention> found) {
  const auto warm = std::ranges::count(found, Condition::warm_caches, &Intervention::condition);
  if (!further || warm != 1) return warm == 0;
  const auto first = std::ranges::find(found, Condition::warm_caches, &Intervention::condition);
  return first->low < kConfirmedFrom && first->high >= kNotConfirmedBelow;
}

double bytes_at(const Contract& contract, const Dims& dims) {
  const auto layout = layout_of(contract, dims);
  return layout ? static_cast<double>(layout->bytes) : 0;
}

}  // namespace

std::vector<Interventions::Change> Interventions::warm_caches(const DeviceInfo& device,
                                                              bool one_core) const {
  const Dims& dims = contract_.cases.front().dims;
  std::vector<Change> changes;
  const auto add = [&](const std::optional<Dims>& size, bool further) {
    changes.push_back({Condition::warm_caches,
                       size ? "warm caches at " + changed_dims(*size, dims) : "warm caches",
                       {.dims = size.value_or(dims), .most_places = 1},
                       CacheMode::hot,
                       size,
                       further});
  };
  // What does not fit into the cache is as cold in the next call as in the first.
  constexpr std::int64_t kParts = 2;
  const auto most_bytes = device.l2_bytes / kParts;
  const double bytes = bytes_at(contract_, dims);
  if (bytes > 0 && bytes <= static_cast<double>(most_bytes)) add(std::nullopt, false);
  for (const auto& size : sizes_that_fit(contract_, dims, most_bytes)) add(size, false);
  if (device.kind == DeviceKind::cuda) {
    // Part of what fits only once is still there; the larger call is less of a launch.
    if (bytes > static_cast<double>(most_bytes) && bytes <= static_cast<double>(device.l2_bytes))
      add(std::nullopt, true);
    for (const auto& size : sizes_that_fit(contract_, dims, device.l2_bytes))
      if (bytes_at(contract_, size) > static_cast<double>(most_bytes)) add(size, true);
    return changes;
  }
  // Others use the last cache, too, but not those of the cores.
  const auto near =
      std::int64_t{::sysconf(_SC_LEVEL2_CACHE_SIZE)} * (one_core ? 1 : device.multiprocessors);
  for (const auto& size : sizes_that_fit(contract_, dims, near / kParts)) add(size, true);
  return changes;
}

std::vector<Interventions::Change> Interventions::changes(const Subject& subject) const {
  const Dims& dims = contract_.cases.front().dims;
  auto changes = warm_caches(subject.device, has(subject.findings, "pattern-host-single-thread"));
  if (std::ranges::any_of(contract_.tensors, is_index))
    changes.push_back(
        {Condition::indices_in_order, "indices in order", {.dims = dims, .values = kInOrder}});
  std::size_t halved = 0;
  for (const auto& [name, value] : dims) {
    if (value < 2 || halved == kMostDims) continue;
    Dims half = dims;
    half[name] = value / 2;
    changes.push_back({Condition::halved_dim, name + " halved", {.dims = half}});
    ++halved;
  }
  return changes;
}

Status Interventions::start(Pair& pair, const Candidate& candidate, const Candidate& other,
                            std::optional<int> processors) {
  pair.clear();
  auto started = lab_.start_all(contract_, {{"candidate", &candidate}, {"other", &other}}, call_,
                                {.processors_of_last = processors});
  if (!started) return started.error();
  pair = *std::move(started);
  return {};
}

Result<Interventions::Timed> Interventions::paired(TimedArenas& arenas, Pair& pair,
                                                   const Change& change, const SessionPlan& plan) {
  auto session =
      TimingSession(arenas, plan)
          .run({{"candidate", &pair.front(), {}}, {change.what, &pair.back(), change.cache_mode}},
               call_);
  if (!session) return session.error();
  for (const auto& one : session->contestants)
    if (!one.reasons.empty()) return unavailable(one.reasons.front().text());
  auto compared = comparison_of(*session, 1);
  if (!compared) return compared.error();
  Intervention one{change.condition, change.what, 1 - compared->speedup, 1 - compared->ci_high,
                   1 - compared->ci_low};
  one.other_size = change.size.has_value();
  if (is_doubtful(*compared))
    one.doubt = compared->flags ? fmt::format("{}", fmt::join(*compared->flags, ", "))
                                : std::string("too noisy");
  const auto alone = timing_of(*session, 0, plan);
  if (!alone) return alone.error();
  return Timed{std::move(one), alone->median.value};
}

Result<Interventions::Timed> Interventions::time(const Change& change, Pair& pair,
                                                 const SessionPlan& plan) {
  const auto secret = fmt::format("{} {}", secret_, change.what);
  const Dims& dims = change.size ? *change.size : contract_.cases.front().dims;
  auto as_it_is = source_.arenas({.dims = dims}, secret, call_);
  if (!as_it_is) return as_it_is.error();
  ArenaPlan room = change.changed;
  room.first_room = 1;
  auto changed = source_.arenas(room, secret + " changed", call_);
  if (!changed) return changed.error();
  auto both = split_arenas(pair.back(), **changed, **as_it_is);
  return paired(*both, pair, change, plan);
}

std::optional<KernelCounters> Interventions::launched(const Candidate& candidate,
                                                      const Dims& dims) {
  auto arenas = source_.arenas({.dims = dims}, secret_ + " launched", call_);
  if (!arenas) return std::nullopt;
  auto start =
      lab_.start_plan(contract_, candidate, CandidateProcess::Use::count, kMostArenas, call_);
  if (!start) return std::nullopt;
  auto process = CandidateProcess::launch(start->spec, start->deadline);
  if (!process || !process->load(start->code, call_) || process->fault() ||
      !(*arenas)->give(*process, call_) || process->fault())
    return std::nullopt;
  auto counted = process->count({}, call_);
  if (!counted || process->fault() || counted->kernels.size() != 1) return std::nullopt;
  return std::move(counted->kernels.front());
}

void Interventions::note_blocks(const Subject& subject, std::span<const Change> changes,
                                std::vector<Intervention>& found) {
  const auto* const kernel = lone_kernel(subject.profile, subject.device);
  if (kernel == nullptr || !has(subject.findings, "pattern-small-grid") ||
      !far_above_launch(subject.profile.timing.median.value, subject.profile.launches))
    return;
  const double all = bytes_at(contract_, contract_.cases.front().dims);
  for (const auto& change : changes) {
    const auto timed = std::ranges::find(found, change.what, &Intervention::what);
    if (change.condition != Condition::halved_dim || timed == found.end() || all <= 0) continue;
    const auto half = launched(subject.candidate, change.changed.dims);
    const double left = bytes_at(contract_, change.changed.dims) / all;
    timed->halves_blocks = half && halves_blocks_alone(*kernel, *half, left);
  }
}

std::optional<Interventions::Variant> Interventions::effective(const Subject& subject,
                                                               Result<BuildRecord> build,
                                                               Intervention intervention) {
  if (!build || !build->ok) return std::nullopt;
  const auto spilled = [](const std::optional<BuildRecord>& record) {
    return record ? record->spill_bytes.value_or(0) : 0;
  };
  Variant variant{{subject.candidate.source, *std::move(build)}, std::move(intervention)};
  const auto seen = launched(variant.candidate, contract_.cases.front().dims);
  if (!seen) return std::nullopt;
  const int sms = subject.device.multiprocessors;
  const auto now = resident_blocks(*seen, sms);
  const auto before = resident_blocks(subject.profile.kernels.front(), sms);
  if (!now || !before) return std::nullopt;
  constexpr double kRounding = 0.01;
  if (variant.intervention.condition == Condition::fewer_blocks)
    return *now <= (0.5 + kRounding) * *before ? std::optional(std::move(variant)) : std::nullopt;
  if (*now <= (1 + kRounding) * *before) return std::nullopt;
  // Registers that went to memory cost what the block gains; a tenth more blocks gain less than is
  // asked for.
  variant.intervention.refutes =
      spilled(variant.candidate.build) <= spilled(subject.candidate.build) &&
      1 - *before / *now >= 2 * kNotConfirmedBelow;
  return variant;
}

std::vector<Interventions::Variant> Interventions::host_variants(const Subject& subject) {
  std::vector<Variant> variants;
  const auto add = [&](Candidate candidate, Condition condition, std::string what) -> Variant& {
    return variants.emplace_back(
        Variant{std::move(candidate), {.condition = condition, .what = std::move(what)}});
  };
  if (has(subject.findings, "pattern-host-single-thread") && subject.device.multiprocessors > 1)
    add(subject.candidate, Condition::fewer_processors, "half of the processors").processors =
        subject.device.multiprocessors / 2;
  constexpr std::array kArithmetic{"pattern-host-scalar-loop", "pattern-host-math-calls",
                                   "pattern-host-divisions", "pattern-host-dependency-chain"};
  const bool asked =
      std::ranges::any_of(kArithmetic, [&](const char* id) { return has(subject.findings, id); });
  auto request = kernel_build(contract_, subject.candidate.source);
  const bool fast = std::ranges::any_of(request.flags, [](const std::string& flag) {
    return flag == "-ffast-math" || flag == "-Ofast";
  });
  if (!asked || fast) return variants;
  request.flags.insert(request.flags.end(), kAnyOrder.begin(), kAnyOrder.end());
  call_.progress(0, std::nullopt, "building for interventions");
  auto built = lab_.builder.build(request, call_);
  if (!built || !built->ok) return variants;
  auto& made = add({subject.candidate.source, *std::move(built)}, Condition::any_order,
                   "arithmetic in any order");
  made.intervention.refutes = false;  // what the compiler cannot reorder, a person still may
  const auto before = packed_in_loops(subject.candidate);
  const auto now = packed_in_loops(made.candidate);
  made.intervention.more_vectors = before && now && *now > *before;
  return variants;
}

std::optional<int> Interventions::packed_in_loops(const Candidate& candidate) {
  const auto listing = lab_.listing_of(contract_, candidate, CodeView::sass, call_);
  if (!listing) return std::nullopt;
  int packed = 0;
  for (const auto& function : read_code(listing->text, CodeKind::host))
    packed += static_cast<int>(std::ranges::count_if(function.instructions, [](const auto& one) {
      return one.loop_depth > 0 && vector_use(one.opcode, one.operands) == VectorUse::packed;
    }));
  return packed;
}

std::vector<Interventions::Variant> Interventions::variants(const Subject& subject) {
  if (contract_.implementation == Implementation::host_cpp) return host_variants(subject);
  const auto* const kernel = lone_kernel(subject.profile, subject.device);
  const bool few = has(subject.findings, "pattern-low-achieved-occupancy");
  if (kernel == nullptr || is_python(contract_.implementation) ||
      !(few || has(subject.findings, "pattern-latency-bound-loads")) ||
      !far_above_launch(subject.profile.timing.median.value, subject.profile.launches))
    return {};
  const auto building = [&](BuildRequest request) {
    return std::async(std::launch::async, [this, request = std::move(request)] {
      return lab_.builder.build(request, call_);
    });
  };
  std::optional<std::future<Result<BuildRecord>>> fewer, capped;
  // Of a device-only kernel the launch is ours, not in the source.
  if (!contract_.launch && has_blocks_to_spare(*kernel, subject.device.multiprocessors)) {
    auto request = kernel_build(contract_, subject.candidate.source);
    request.fewer_blocks = true;
    fewer = building(std::move(request));
  }
  const auto cap = few ? register_cap(*kernel) : std::nullopt;
  if (cap) {
    auto request = kernel_build(contract_, subject.candidate.source);
    request.flags.push_back(fmt::format("--maxrregcount={}", *cap));
    capped = building(std::move(request));
  }
  if (fewer || capped) call_.progress(0, std::nullopt, "building for interventions");
  std::vector<Variant> variants;
  const auto add = [&](auto& build, Condition condition, const std::string& what) {
    if (!build) return;
    auto made = effective(subject, build->get(), {.condition = condition, .what = what});
    if (made) variants.push_back(*std::move(made));
  };
  if (fewer) fewer->wait();
  if (capped) capped->wait();
  add(fewer, Condition::fewer_blocks, "half of the resident blocks");
  add(capped, Condition::register_cap, fmt::format("a cap of {} registers", cap.value_or(0)));
  return variants;
}

Status Interventions::time_conditions(const Subject& subject, std::span<const Change> changes,
                                      const SessionPlan& plan, std::vector<Intervention>& found) {
  Pair pair;
  for (const auto& change : changes) {
    if (change.condition == Condition::warm_caches && !asks_again(change.further, found)) continue;
    const bool usable = !pair.empty() && !pair.front().fault() && !pair.back().fault();
    if (!usable)
      if (auto started = start(pair, subject.candidate, subject.candidate); !started)
        return started;
    call_.progress(0, std::nullopt, "timing with " + change.what);
    auto one = time(change, pair, plan);
    if (call_.canceled()) return one ? Status{} : one.error();
    if (pair.front().fault() && !change.size) break;
    if (!one) continue;
    // Of a call that is mostly launch, nothing about its data shows.
    if (change.size)
      one->intervention.refutes =
          far_above_launch(one->as_it_is_ns, std::max(1, subject.profile.launches));
    if (change.further) one->intervention.refutes = false;
    // Launches, parallel regions and an interpreter's steps may be as many as a size says.
    if (change.condition == Condition::halved_dim)
      one->intervention.refutes = subject.profile.launches == 1;
    found.push_back(std::move(one->intervention));
  }
  return {};
}

void Interventions::time_variants(const Subject& subject, std::span<const Variant> variants,
                                  const SessionPlan& plan, std::vector<Intervention>& found) {
  for (const auto& variant : variants) {
    const Change change{variant.intervention.condition, variant.intervention.what, {}};
    call_.progress(0, std::nullopt, "timing with " + change.what);
    Pair pair;
    if (!start(pair, subject.candidate, variant.candidate, variant.processors)) return;
    auto arenas = source_.arenas({.dims = contract_.cases.front().dims},
                                 fmt::format("{} {}", secret_, change.what), call_);
    if (!arenas) return;
    auto one = paired(**arenas, pair, change, plan);
    if (call_.canceled()) return;
    if (!one) continue;
    one->intervention.refutes = variant.intervention.refutes;
    one->intervention.more_vectors = variant.intervention.more_vectors;
    found.push_back(std::move(one->intervention));
  }
}

Result<std::vector<Intervention>> Interventions::measure(const Subject& subject,
                                                         const SessionPlan& plan) {
  SessionPlan brief = plan;
  brief.samples = samples_of(subject.profile.timing.median.value);
  const auto built = variants(subject);
  const auto conditions = changes(subject);
  std::vector<Intervention> found;
  if (auto timed = time_conditions(subject, conditions, brief, found); !timed) return timed.error();
  if (!call_.canceled()) note_blocks(subject, conditions, found);
  if (!call_.canceled()) time_variants(subject, built, brief, found);
  return found;
}

}  // namespace ratchet
