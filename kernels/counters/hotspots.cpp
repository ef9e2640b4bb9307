#include "kernels/counters/hotspots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ratchet {
namespace {

constexpr double kCyclesPerNanosecond =
    1.7;  // approximate clock of these chips; only determines a period
constexpr double kSamplesPerCall = 512;      // per multiprocessor
constexpr int kShortest = 5, kLongest = 31;  // the range CUPTI accepts
constexpr double kSampledTime = 2e6;         // ns; short calls are repeated until they total this
constexpr int kMostCalls = 20;
constexpr std::size_t kShownReasons = 4;

/// Totals of one place while samples are added up.
struct Tally {
  std::string kernel;
  std::optional<int> line;
  std::int64_t samples = 0;
  std::int64_t hottest = 0;  ///< samples of the instruction below
  std::int64_t offset = 0;
  std::string instruction;
  std::map<std::string, std::int64_t> reasons;
};

const CodeFunction* function_named(std::span<const CodeFunction> functions,
                                   const std::string& name) {
  const auto found = std::ranges::find(functions, name, &CodeFunction::name);
  return found == functions.end() ? nullptr : &*found;
}

const Instruction* instruction_at(const CodeFunction& function, std::int64_t offset) {
  if (function.instructions.empty()) return nullptr;
  const auto address = function.instructions.front().address + static_cast<std::uint64_t>(offset);
  const auto found = std::ranges::find(function.instructions, address, &Instruction::address);
  return found == function.instructions.end() ? nullptr : &*found;
}

void add(Tally& place, const wire::PcSample& pc, const Instruction* instruction) {
  std::int64_t sum = 0;
  for (const auto& [reason, count] : pc.reasons)
    if (!reason.ends_with("_not_issued")) {
      place.reasons[reason] += count;
      sum += count;
    }
  place.samples += sum;
  if (sum <= place.hottest) return;
  place.hottest = sum;
  place.offset = pc.offset;
  if (instruction)
    place.instruction =
        fmt::format("{}{}{} {}", instruction->guard, instruction->guard.empty() ? "" : " ",
                    instruction->opcode, instruction->operands);
}

Hotspot hotspot_of(const Tally& place, double all) {
  const auto samples = static_cast<double>(place.samples);
  Hotspot spot{.kernel = place.kernel,
               .line = place.line,
               .offset = place.offset,
               .instruction = place.instruction,
               .samples = place.samples,
               .share = samples / all,
               .stalls = {}};
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [reason, count] : place.reasons) order.emplace_back(count, reason);
  std::ranges::sort(order, std::greater{});
  order.resize(std::min(order.size(), kShownReasons));
  for (const auto& [count, reason] : order)
    spot.stalls[reason] = static_cast<double>(count) / samples;
  return spot;
}

}  // namespace

wire::Sampling sampling_of(Nanoseconds median) {
  const double cycles = std::max(1.0, median.value * kCyclesPerNanosecond);
  const int period = static_cast<int>(std::lround(std::log2(cycles / kSamplesPerCall)));
  const int calls = static_cast<int>(std::ceil(kSampledTime / std::max(1.0, median.value)));
  return {std::clamp(period, kShortest, kLongest), std::clamp(calls, 1, kMostCalls)};
}

Hotspots hotspots_from(const wire::PcSamples& samples, std::span<const CodeFunction> functions) {
  Hotspots spots{.places = {},
                 .samples = 0,
                 .dropped = samples.dropped,
                 .period_cycles = samples.period_cycles,
                 .degraded_reason = samples.unavailable};
  std::map<std::pair<std::string, std::int64_t>, Tally> places;  // by line, or by minus the offset
  bool lines = false;
  for (const auto& pc : samples.pcs) {
    const auto* const function = function_named(functions, pc.function);
    if (!functions.empty() && function == nullptr) continue;
    const auto* const instruction = function ? instruction_at(*function, pc.offset) : nullptr;
    const int line = instruction ? instruction->line : 0;
    lines = lines || line > 0;
    auto& place = places[{pc.function, line > 0 ? line : -pc.offset}];
    place.kernel = source_name(pc.function);
    if (line > 0) place.line = line;
    add(place, pc, instruction);
  }
  for (const auto& [key, place] : places) spots.samples += place.samples;
  for (const auto& [key, place] : places)
    if (place.samples > 0)
      spots.places.push_back(hotspot_of(place, static_cast<double>(spots.samples)));
  std::ranges::stable_sort(spots.places, std::greater{}, &Hotspot::samples);
  spots.places.resize(std::min(spots.places.size(), kMostHotspots));
  if (!spots.degraded_reason && spots.places.empty())
    spots.degraded_reason = "no sample is in this kernel's code";
  if (!spots.degraded_reason && !lines)
    spots.degraded_reason = functions.empty()
                                ? "without a disassembler there are only offsets, no lines"
                                : "the code carries no line numbers";
  return spots;
}

}  // namespace ratchet
