#include "tests/gpu/judges.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <vector>

#include "kernels/measure/device/gpu.h"
#include "kernels/worker/compare.h"
#include "kernels/worker/small_float.h"

namespace ratchet::test {
namespace {

using Bytes = std::vector<std::byte>;

// Not multiples of a warp or a block.
constexpr std::int64_t kRows = 97, kRow = 1031;
constexpr std::int64_t kElements = kRows * kRow;
constexpr std::int64_t kShift = 512;

[[noreturn]] void stop(const std::string& message) {
  std::cout << Json{{"error", message}}.dump() << "\n";
  std::exit(1);
}

wire::ArenaLayout layout_for(DType type) {
  const std::int64_t size = (kElements * size_of(type) + 511) / 512 * 512;
  wire::ArenaLayout layout;
  layout.buffers = {
      {"x", DType::f32, Role::in, "normal", 4096, kElements, {kElements}},
      {"y", type, Role::out, "normal", 4096 + 401'408 + 4096, kElements, {kRows, kRow}}};
  layout.bytes = layout.buffers[1].offset + size + 4096;
  return layout;
}

/// Values of many magnitudes, where every eighth row is `larger` times the others; every hundredth
/// element has random bits, including NaN and infinity, if they are `wild`.
void fill_expected(Bytes& arena, const wire::Buffer& y, double larger, bool wild,
                   std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, 3);
  for (std::int64_t i = 0; i < y.elements; ++i) {
    const double scale = i / kRow % 8 == 0 ? larger : 1;
    worker::set_element(arena.data() + y.offset, y.dtype, i, scale * normal(random));
    if (!wild || random() % 100 != 0) continue;
    const auto bits = random();
    std::memcpy(arena.data() + y.offset + i * size_of(y.dtype), &bits,
                static_cast<std::size_t>(size_of(y.dtype)));
    if (y.dtype == DType::boolean) arena[static_cast<std::size_t>(y.offset + i)] &= std::byte{1};
  }
}

/// Small errors around the tolerance, some large errors, and unwritten elements.
void spoil(Bytes& returned, const Bytes& sent, const wire::Buffer& y, std::mt19937_64& random) {
  const auto size = static_cast<std::size_t>(size_of(y.dtype));
  for (std::int64_t i = 0; i < y.elements; ++i) {
    const auto at = static_cast<std::size_t>(y.offset) + static_cast<std::size_t>(i) * size;
    const double value = worker::element(returned.data() + y.offset, y.dtype, i);
    const auto what = random() % 200;
    if (what < 100 && std::isfinite(value))
      worker::set_element(returned.data() + y.offset, y.dtype, i,
                          value * (1 + std::ldexp(static_cast<double>(random() % 1024), -22)));
    if (what == 198) worker::set_element(returned.data() + y.offset, y.dtype, i, 7);
    if (what == 199) std::memcpy(&returned[at], &sent[at], size);
  }
}

/// Copies through an arena of its own, because only kernels write to shared memory.
void put(worker::Device& device, std::byte* to, const Bytes& from) {
  auto memory = measure::DeviceMemory::allocate(from.size());
  if (!memory) stop(memory.error().message);
  if (auto written = memory->write(0, from); !written) stop(written.error().message);
  if (auto copied = measure::queue_copy(to, memory->data(), from.size()); !copied)
    stop(copied.error().message);
  if (auto fault = device.run([] {})) stop(fault->message);
}

/// Names of the fields in which two verdicts differ. The last bits of sums depend on their order.
std::vector<std::string> differences(const wire::Comparison& a, const wire::Comparison& b) {
  std::vector<std::string> differ;
  const Json x = encode(a), y = encode(b);
  for (const auto* name : {"passed", "guards_intact", "inputs_intact", "touched", "states"})
    if (x.value(name, Json()) != y.value(name, Json())) differ.emplace_back(name);
  const auto &p = a.outputs.at(0), &q = b.outputs.at(0);
  if (std::abs(p.mean_abs - q.mean_abs) > 1e-9 * std::abs(p.mean_abs)) differ.emplace_back("mean");
  for (const auto* name : {"mismatches", "first_bad", "max_abs", "max_rel", "matched", "elements"})
    if (x["outputs"][0].value(name, Json()) != y["outputs"][0].value(name, Json()))
      differ.push_back(fmt::format("{} {} / {}", name, x["outputs"][0].value(name, Json()).dump(),
                                   y["outputs"][0].value(name, Json()).dump()));
  if (x["outputs"][0]["preview_kernel"].dump() != y["outputs"][0]["preview_kernel"].dump())
    differ.emplace_back("preview");
  return differ;
}

class Bench {
 public:
  Bench(worker::Device& device, void* entry, DType type)
      : device_(device), layout_(layout_for(type)) {
    auto judge = device.judge(entry);
    if (!judge) stop(judge.error().message);
    judge_ = *std::move(judge);
    auto shared = judge_->share({layout_.bytes, layout_.bytes, 1});
    if (!shared) stop(shared.error().message);
    const std::span descriptors(*shared);
    for (auto* memory : {&reference_, &candidate_}) {
      const auto pieces = memory == &candidate_ ? descriptors.subspan(1) : descriptors.first(1);
      auto attached = device.attach(pieces, layout_.bytes);
      if (!attached) stop(attached.error().message);
      *memory = *std::move(attached);
    }
  }

  /// `hurt` changes the returned arena outside the outputs.
  Json judged(const std::string& name, wire::Tolerance tolerance, double ratio, bool wrong,
              std::int64_t hurt, double larger = 1, bool wild = true) {
    const wire::Place place{0, kShift};
    const wire::GenerateOnDevice trial{
        {layout_, std::string(64, 'a'), "normal", 16}, place, false, {}, {}};
    if (auto generated = judge_->generate(trial); !generated) stop(generated.error().message);
    Bytes sent(static_cast<std::size_t>(layout_.bytes));
    if (auto read = measure::read_device(candidate_->base() + kShift, sent); !read)
      stop(read.error().message);
    Bytes expected = sent;
    fill_expected(expected, layout_.buffers[1], larger, wild, random_);
    Bytes returned = expected;
    if (wrong) spoil(returned, sent, layout_.buffers[1], random_);
    if (hurt >= 0) returned[static_cast<std::size_t>(hurt)] ^= std::byte{1};
    put(device_, candidate_->base() + kShift, returned);
    put(device_, reference_->base(), expected);
    tolerance.matched_ratio = ratio;
    const wire::Compare plan{layout_, {tolerance, tolerance}, {}};
    auto compared = judge_->compare({plan, place});
    if (!compared) stop(compared.error().message);
    const auto ours = worker::compare({sent, returned, expected}, plan);
    return {{"case", name},
            {"passed", ours.passed},
            {"mismatches", ours.outputs.at(0).mismatches},
            {"differs", differences(ours, compared->comparison)}};
  }

  /// Inputs that the reference's process made: they reach the candidate, nothing else changes, and
  /// others than before are seen to be others.
  Json adopted() {
    const wire::Place place{0, kShift};
    wire::GenerateOnDevice trial{
        {layout_, std::string(64, 'c'), "normal", 16, {"x"}}, {}, false, {}, {}};
    if (auto generated = judge_->generate(trial); !generated) stop(generated.error().message);
    auto made = content_of(*reference_);
    const auto& x = layout_.buffers[0];
    for (std::int64_t i = 0; i < x.elements; ++i)
      worker::set_element(made.data() + x.offset, x.dtype, i, static_cast<double>(random_() % 999));
    trial.place = place;
    trial.adopt = true;
    const auto adopt = [&](const Bytes& from) {
      put(device_, reference_->base(), from);
      auto same = judge_->generate(trial);
      if (!same) stop(same.error().message);
      return same->value_or(false);
    };
    std::vector<std::string> differ;
    (void)adopt(made);
    if (content_of(*candidate_, kShift) != made) differ.emplace_back("candidate");
    if (content_of(*reference_) != made) differ.emplace_back("reference");
    if (auto described = judge_->describe(); !described) stop(described.error().message);
    if (!adopt(made)) differ.emplace_back("the same inputs");
    auto other = made;
    other[static_cast<std::size_t>(x.offset)] ^= std::byte{1};
    if (adopt(other)) differ.emplace_back("other inputs");
    return {{"case", "given inputs are adopted"},
            {"passed", true},
            {"mismatches", 0},
            {"differs", differ}};
  }

  [[nodiscard]] std::int64_t output_offset() const { return layout_.buffers[1].offset; }

 private:
  [[nodiscard]] Bytes content_of(const worker::DeviceArena& arena, std::int64_t at = 0) const {
    Bytes content(static_cast<std::size_t>(layout_.bytes));
    if (auto read = measure::read_device(arena.base() + at, content); !read)
      stop(read.error().message);
    return content;
  }

  worker::Device& device_;
  wire::ArenaLayout layout_;
  std::unique_ptr<worker::DeviceJudge> judge_;
  std::unique_ptr<worker::DeviceArena> reference_, candidate_;
  std::mt19937_64 random_{7};
};

}  // namespace

Json compare_judges(worker::Device& device, void* entry) {
  Json rows = Json::array();
  for (const auto& [type, name] : enum_names(DType{})) {
    Bench bench(device, entry, type);
    const bool exact = !is_floating(type);
    const wire::Tolerance scaled{1e-4, 1e-4, wire::AtolScale::rms, exact};
    const wire::Tolerance fixed{1e-5, 1e-4, wire::AtolScale::absolute, exact};
    rows.push_back(bench.judged(fmt::format("{} right", name), scaled, 1, false, -1));
    rows.push_back(bench.judged(fmt::format("{} wrong", name), scaled, 1, true, -1));
    rows.push_back(bench.judged(fmt::format("{} wrong, absolute", name), fixed, 1, true, -1));
    rows.push_back(bench.judged(fmt::format("{} wrong, ratio 0.5", name), scaled, 0.5, true, -1));
    if (!exact)
      for (const auto& [scale, by] : {std::pair{wire::AtolScale::row, "rows"},
                                      std::pair{wire::AtolScale::typical, "typical elements"}})
        for (const double larger : {1.0, 4.0, 40.0})
          rows.push_back(bench.judged(fmt::format("{} wrong, by {}, {} times", name, by, larger),
                                      {1e-4, 1e-4, scale, false}, 1, true, -1, larger, false));
    rows.push_back(
        bench.judged(fmt::format("{} guard", name), scaled, 1, false, bench.output_offset() - 1));
    rows.push_back(bench.judged(fmt::format("{} input", name), scaled, 1, false, 4100));
  }
  rows.push_back(Bench(device, entry, DType::f32).adopted());
  return rows;
}

}  // namespace ratchet::test
