#include "tests/gpu/judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <vector>

#include "kernels/measure/device/gpu.h"
#include "kernels/worker/combine.h"
#include "kernels/worker/compare.h"
#include "kernels/worker/describe.h"
#include "kernels/worker/small_float.h"
#include "server/facts/unit_roundoff.h"

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

wire::ArenaLayout layout_for(DType type, DType input = DType::f32) {
  const auto room = [](DType of) { return (kElements * size_of(of) + 4095) / 4096 * 4096 + 4096; };
  wire::ArenaLayout layout;
  layout.buffers = {{"x", input, Role::in, "normal", 4096, kElements, {kElements}},
                    {"y", type, Role::out, "normal", 4096 + room(input), kElements, {kRows, kRow}}};
  layout.bytes = layout.buffers[1].offset + room(type);
  return layout;
}

/// What a kernel does to the true answer.
enum class Deed { rounds, truncates, adds_noise, flushes, errs_by_terms };

/// The true answers as float64, of magnitudes from 2^-20 to 2^4.
std::vector<double> truth(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values(kElements);
  for (auto& value : values)
    value =
        std::ldexp(normal(random), static_cast<int>(random() % 8 == 0 ? random() % 24 : 0) * -1);
  return values;
}

/// `value` after the deed, before it is rounded to the output's type. `term`: the magnitude of what
/// it is a sum of.
double done_to(double value, Deed deed, double unit, double term, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  switch (deed) {
    case Deed::rounds:
      return value;
    case Deed::truncates:
      return value * (1 - 0.9 * unit);
    case Deed::adds_noise:
      return value + 12 * unit * std::fabs(value) * normal(random);
    case Deed::flushes:
      return std::fabs(value) < 0x1p-8 ? 0 : value;
    case Deed::errs_by_terms:
      return value + 5 * 0x1p-24 * term * normal(random);
  }
  return value;
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
  for (const auto* name : {"passed", "guards_intact", "inputs_intact", "touched"})
    if (x.value(name, Json()) != y.value(name, Json())) differ.emplace_back(name);
  const auto apart = [](const std::optional<double>& one, const std::optional<double>& other) {
    return one.has_value() != other.has_value() ||
           (one && std::abs(*one - *other) > 1e-9 * std::abs(*one));
  };
  const auto &s = a.states.at(0), &t = b.states.at(0);
  if (s.unwritten != t.unwritten || s.unexpected != t.unexpected || s.right != t.right ||
      s.flushed != t.flushed || apart(s.noise, t.noise) || apart(s.bias, t.bias))
    differ.push_back(fmt::format("states {} / {}", x["states"].dump(), y["states"].dump()));
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
  Bench(worker::Device& device, void* entry, DType type, DType input = DType::f32)
      : device_(device), layout_(layout_for(type, input)) {
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

  /// A reference that is off by a rounding or so, its answer in float64 if there is a `shadow`, and
  /// the magnitudes of what its elements are sums of if there are `terms`. A `foreign` shadow
  /// computes something else.
  struct Beside {
    bool shadow = true;
    bool terms = false;
    bool foreign = false;
  };
  Json weighed(const std::string& name, const wire::Tolerance& tolerance, Deed deed,
               Beside beside) {
    const wire::Place place{0, kShift};
    const wire::GenerateOnDevice trial{
        {layout_, std::string(64, 'b'), "normal", 16}, place, false, {}, {}};
    if (auto generated = judge_->generate(trial); !generated) stop(generated.error().message);
    const Bytes sent = content_of(*candidate_, kShift);
    Bytes expected = sent, returned = sent, terms = sent;
    const auto& y = layout_.buffers[1];
    const double unit = unit_roundoff(y.dtype);
    const auto values = truth(random_);
    auto wide = wide_arena();
    Bytes shadow(static_cast<std::size_t>(wide.bytes));
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < y.elements; ++i) {
      const double value = values[static_cast<std::size_t>(i)];
      const double term = std::ldexp(std::fabs(value), 16);
      worker::set_element(expected.data() + y.offset, y.dtype, i,
                          value * (1 + unit * normal(random_)));
      worker::set_element(returned.data() + y.offset, y.dtype, i,
                          done_to(value, deed, unit, term, random_));
      worker::set_element(terms.data() + y.offset, y.dtype, i, term);
      worker::set_element(shadow.data() + wide.buffers[1].offset, DType::f64, i,
                          beside.foreign ? value + 1 : value);
    }
    if (beside.terms) set_aside(terms);
    put(device_, candidate_->base() + kShift, returned);
    put(device_, reference_->base(), expected);
    if (beside.shadow) put(device_, wide_->base(), shadow);
    wire::Compare plan{layout_, {tolerance, tolerance}, {}};
    if (beside.shadow) plan.wide = std::move(wide);
    plan.with_terms = beside.terms;
    const auto ours = worker::compare({sent, returned, expected, shadow, terms}, plan);
    auto plain = judge_->compare({plan, place});
    if (!plain) stop(plain.error().message);
    // What is compared once more is the copy, whatever the candidate does meanwhile.
    put(device_, candidate_->base() + kShift, sent);
    auto kept = judge_->compare({plan, place, true});
    if (!kept) stop(kept.error().message);
    auto differ = differences(ours, kept->comparison);
    if (!differences(ours, plain->comparison).empty()) differ.emplace_back("once more");
    return {{"case", name},
            {"passed", ours.passed},
            {"mismatches", ours.outputs.at(0).mismatches},
            {"differs", differ}};
  }

  /// The trial in float64, sums and magnitudes are those of the processor's judge.
  Json arenas() {
    std::vector<std::string> differ;
    const auto check = [&](const std::string& what, const Bytes& ours, const Bytes& theirs) {
      if (ours != theirs) differ.push_back(what);
    };
    const auto trial = [&](std::optional<wire::Changed> changed) {
      auto done = judge_->generate({{layout_, std::string(64, 'd'), "normal", 16},
                                    wire::Place{0, kShift},
                                    false,
                                    std::move(changed),
                                    {}});
      if (!done) stop(done.error().message);
      return content_of(*candidate_, kShift);
    };
    const auto step = [&](wire::TermsStep one, std::optional<wire::Compare> compare = {}) {
      auto done = judge_->terms({one, "x", std::move(compare)});
      if (!done || !done->fits) stop("a step on answers failed");
      return done->comparison;
    };
    const auto first = trial({});
    const auto wide = wide_arena();
    Bytes widened(static_cast<std::size_t>(wide.bytes));
    worker::widen({layout_, wide}, first, widened);
    Bytes theirs(widened.size());
    if (auto read = measure::read_device(wide_->base(), theirs); !read) stop(read.error().message);
    check("float64", widened, theirs);

    const auto& y = layout_.buffers[1];
    const auto answered = [&](Bytes arena) {
      fill_expected(arena, y, 1, false, random_);
      put(device_, reference_->base(), arena);
      return arena;
    };
    const auto one = answered(first);
    step(wire::TermsStep::keep);
    const auto other = answered(trial(wire::Changed{"x", std::string(64, 'e'), {}}));
    step(wire::TermsStep::add);
    Bytes sums(one.size()), both(one.size());
    worker::combine({layout_, {"x"}}, other, one, sums);
    worker::combine({layout_, {"y"}}, one, other, both);
    const auto now = content_of(*reference_);
    const auto input = [&](const Bytes& arena) {
      const auto& x = layout_.buffers[0];
      return Bytes(arena.begin() + x.offset, arena.begin() + x.offset + x.bytes());
    };
    check("sums of inputs", input(sums), input(now));
    Bytes right = now;
    std::copy_n(both.begin() + y.offset, y.bytes(), right.begin() + y.offset);
    put(device_, reference_->base(), right);
    const auto verdict = step(wire::TermsStep::judge, wire::Compare{layout_, {{}, {}}, {}});
    if (!verdict || verdict->outputs.at(0).mismatches > 0) differ.emplace_back("sums of answers");

    const auto before = trial({});
    put(device_, reference_->base(), one);
    step(wire::TermsStep::magnitudes);
    Bytes sizes(before.size());
    worker::combine({layout_, {"x"}, wire::Combination::magnitudes}, before, before, sizes);
    check("magnitudes", sizes, content_of(*reference_));
    step(wire::TermsStep::restore);
    check("the answer once more", one, content_of(*reference_));
    return {{"case", fmt::format("{} arenas", name_of(layout_.buffers[0].dtype))},
            {"passed", true},
            {"mismatches", 0},
            {"differs", differ}};
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
  /// The trial in memory of its own, in float64.
  wire::ArenaLayout wide_arena() {
    auto wide = layout_for(DType::f64, DType::f64);
    auto widened = judge_->widen({wide});
    if (!widened || !widened->fits) stop("the trial does not fit in float64");
    if (!widened->memory.empty()) {
      auto attached = device_.attach(widened->memory, wide.bytes);
      if (!attached) stop(attached.error().message);
      wide_ = *std::move(attached);
    }
    return wide;
  }

  /// The arena is where the judge looks for terms.
  void set_aside(const Bytes& terms) {
    put(device_, reference_->base(), terms);
    auto done = judge_->terms({wire::TermsStep::magnitudes, "", {}});
    if (!done || !done->fits) stop("terms cannot be set aside");
  }

  [[nodiscard]] Bytes content_of(const worker::DeviceArena& arena, std::int64_t at = 0) const {
    Bytes content(static_cast<std::size_t>(layout_.bytes));
    if (auto read = measure::read_device(arena.base() + at, content); !read)
      stop(read.error().message);
    return content;
  }

  worker::Device& device_;
  wire::ArenaLayout layout_;
  std::unique_ptr<worker::DeviceJudge> judge_;
  std::unique_ptr<worker::DeviceArena> reference_, candidate_, wide_;
  std::mt19937_64 random_{7};
};

}  // namespace

namespace {

/// Each deed beside each rule.
void weigh(Bench& bench, const std::string& name, DType type, Json& rows) {
  const bool wide = type == DType::f32 || type == DType::f64;
  const double near = wide ? 64 * unit_roundoff(type) : 1e-2;
  for (const auto& [deed, done] :
       {std::pair{Deed::rounds, "rounded"}, std::pair{Deed::truncates, "truncated"},
        std::pair{Deed::adds_noise, "noisy"}, std::pair{Deed::flushes, "flushed"},
        std::pair{Deed::errs_by_terms, "off by terms"}}) {
    wire::Tolerance tolerance{near, near, wire::AtolScale::row, false, 4, false, 4, 0.5};
    tolerance.flush = true;
    tolerance.tail = 0x1p-20;
    const auto text = fmt::format("{} {}", name, done);
    rows.push_back(bench.weighed(text, tolerance, deed, {.shadow = false}));
    rows.push_back(bench.weighed(text + ", shadow", tolerance, deed, {}));
    rows.push_back(bench.weighed(text + ", other shadow", tolerance, deed, {.foreign = true}));
    tolerance.terms = 0x1p-21;
    rows.push_back(
        bench.weighed(text + ", terms", tolerance, deed, {.shadow = false, .terms = true}));
    rows.push_back(bench.weighed(text + ", shadow and terms", tolerance, deed, {.terms = true}));
    tolerance.scale = wire::AtolScale::typical;
    tolerance.terms = 0;
    rows.push_back(bench.weighed(text + ", one by one", tolerance, deed, {.shadow = false}));
    tolerance.only_honest = true;
    rows.push_back(bench.weighed(text + ", one by one, shadow", tolerance, deed, {}));
    tolerance.scale = wire::AtolScale::absolute;
    rows.push_back(bench.weighed(text + ", absolute", tolerance, deed, {.shadow = false}));
  }
}

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
    if (!exact) weigh(bench, std::string(name), type, rows);
    if (!exact) rows.push_back(Bench(device, entry, type, type).arenas());
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
