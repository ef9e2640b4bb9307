#include "kernels/judge/extents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <utility>

#include "kernels/contract/planner.h"
#include "kernels/contract/where.h"
#include "kernels/judge/judge.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kSettings = 3;
constexpr std::size_t kMostDims = 6;  // with more, their product is no small task
constexpr std::int64_t kLeastElements = 4096;
constexpr std::int64_t kMostElements = std::int64_t{1} << 22U;
constexpr std::chrono::seconds kLongest(20);

// ----------------------------------------------------------------------------------- expressions

/// A part of an expression, and its values at the settings.
struct Term {
  std::string text;
  std::vector<std::int64_t> values;
};

Term product(const Term& a, const Term& b) {
  Term both{a.text.empty() ? b.text : a.text + "*" + b.text, a.values};
  for (std::size_t i = 0; i < both.values.size(); ++i) both.values[i] *= b.values[i];
  return both;
}

/// All products of one to `most` of the factors, repetitions included.
void add_products(const std::vector<Term>& factors, std::size_t first, const Term& so_far, int most,
                  std::vector<Term>& products) {
  for (std::size_t i = first; i < factors.size() && most > 0; ++i) {
    const auto more = product(so_far, factors[i]);
    products.push_back(more);
    add_products(factors, i, more, most - 1, products);
  }
}

/// c, if b = c * a everywhere.
std::optional<std::int64_t> ratio(const std::vector<std::int64_t>& a,
                                  const std::vector<std::int64_t>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] < 1 || b[i] % a[i] != 0 || b[i] / a[i] != b[0] / a[0]) return std::nullopt;
  return b[0] / a[0];
}

/// c, if b = a + c everywhere.
std::optional<std::int64_t> difference(const std::vector<std::int64_t>& a,
                                       const std::vector<std::int64_t>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (b[i] - a[i] != b[0] - a[0]) return std::nullopt;
  return b[0] - a[0];
}

std::vector<Term> dims_of_settings(const std::vector<Dims>& settings) {
  std::vector<Term> dims;
  for (const auto& [name, value] : settings.front()) {
    Term term{name, {}};
    for (const auto& setting : settings) term.values.push_back(setting.at(name));
    dims.push_back(std::move(term));
  }
  return dims;
}

/// n + 1, and what a window of b leaves of a: a - b + 1.
std::vector<Term> sums_of(const std::vector<Term>& dims) {
  std::vector<Term> sums;
  for (const auto& a : dims) {
    sums.push_back({fmt::format("({} + 1)", a.text), a.values});
    for (auto& value : sums.back().values) ++value;
    for (const auto& b : dims) {
      Term left{fmt::format("({} - {} + 1)", a.text, b.text), a.values};
      for (std::size_t i = 0; i < left.values.size(); ++i) left.values[i] += 1 - b.values[i];
      if (&a != &b && *std::ranges::min_element(left.values) > 0) sums.push_back(std::move(left));
    }
  }
  return sums;
}

// --------------------------------------------------------------------------------------- probing

/// Sizes for the three settings: primes, so that products tell their factors, in the order of the
/// given sizes, so that a window stays smaller than what it slides over.
std::vector<Dims> settings_for(const Dims& given) {
  constexpr std::array<std::int64_t, 12> kPrimes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  const std::size_t first = given.size() <= 3 ? 3 : 0;
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [name, size] : given) order.emplace_back(size, name);
  std::ranges::sort(order);
  std::vector<Dims> settings(kSettings);
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    for (std::size_t i = 0; i < kSettings; ++i) {
      const bool second = i == 1 || (i == 2 && rank % 2 == 1);
      settings[i][order[rank].second] = kPrimes[first + 2 * rank + (second ? 1 : 0)];
    }
  return settings;
}

/// A size at which the reference is run, and what it reached.
class Probe {
 public:
  Probe(Judge& judge, steady_clock::time_point end, const CallContext& call)
      : judge_(judge), end_(end), call_(call) {}

  Status begin(const Dims& dims) {
    auto trial = judge_.make_trial(dims, "normal", fresh_seed(), call_);
    if (!trial) return trial.error();
    trial_.emplace(*std::move(trial));
    return {};
  }

  /// Elements of the buffer up to the last one that the reference reads or writes.
  Result<std::int64_t> reach_of(const wire::Buffer& buffer) {
    return buffer.role == Role::in ? last_read(buffer) : last_written(buffer);
  }

  [[nodiscard]] const wire::ArenaLayout& layout() const { return trial_->plan.layout; }

 private:
  Result<std::int64_t> last_written(const wire::Buffer& buffer) const {
    const auto sent = trial_->sent.map(Mapping::Access::read);
    if (!sent) return sent.error();
    const auto answer = trial_->expected.map(Mapping::Access::read);
    if (!answer) return answer.error();
    const auto from = static_cast<std::size_t>(buffer.offset);
    auto bytes = static_cast<std::size_t>(buffer.bytes());
    while (bytes > 0 && sent->bytes()[from + bytes - 1] == answer->bytes()[from + bytes - 1])
      --bytes;
    const auto size = static_cast<std::size_t>(size_of(buffer.dtype));
    return static_cast<std::int64_t>((bytes + size - 1) / size);
  }

  /// By bisection: changes from here on move the answer, until they do not.
  Result<std::int64_t> last_read(const wire::Buffer& buffer) {
    std::int64_t read = 0, unread = buffer.elements + 1;  // [read - 1] matters, [unread - 1] not
    while (unread - read > 1) {
      if (steady_clock::now() > end_)
        return Error{ErrorCode::timed_out, "the reference is too slow to find its sizes", ""};
      const auto middle = read + (unread - read) / 2;
      auto matters = moved_by(buffer, middle - 1);
      if (!matters) return matters.error();
      (*matters ? read : unread) = middle;
    }
    return read;
  }

  Result<bool> moved_by(const wire::Buffer& buffer, std::int64_t from) {
    constexpr std::array kAmounts{64.0, -64.0};  // one of them moves a maximum or a clipped value
    for (const double amount : kAmounts) {
      auto changed = judge_.changed(
          *trial_, {buffer.name, "", wire::Slice{-1, from, buffer.elements, amount}}, call_);
      if (!changed && changed.error().code == ErrorCode::invalid_argument) return true;
      if (!changed) return changed.error();
      const auto same = same_outputs(layout(), trial_->expected, changed->expected);
      if (!same) return same.error();
      if (!*same) return true;
    }
    return false;
  }

  Judge& judge_;
  steady_clock::time_point end_;
  const CallContext& call_;
  std::optional<Trial> trial_;
};

/// The task at a small size, with buffers larger than anything that follows from it.
TaskRequest oversized(TaskRequest task, const std::vector<Dims>& settings) {
  std::int64_t most = 1;
  for (const auto& setting : settings) {
    std::int64_t all = 1;
    for (const auto& [name, size] : setting) all *= size;
    most = std::max(most, all);
  }
  task.dims = settings.front();
  task.cases.clear();
  task.where.clear();
  task.work.reset();
  task.accumulate.clear();
  task.ptr_size = std::clamp(4 * most, kLeastElements, kMostElements);
  return task;
}

}  // namespace

std::optional<std::string> expression_for(const std::vector<Dims>& settings,
                                          const std::vector<std::int64_t>& values) {
  const auto dims = dims_of_settings(settings);
  const Term nothing{"", std::vector<std::int64_t>(settings.size(), 1)};
  if (const auto constant = ratio(nothing.values, values)) return std::to_string(*constant);
  std::vector<Term> products;
  add_products(dims, 0, nothing, 4, products);
  std::vector<Term> sums;
  add_products(sums_of(dims), 0, nothing, 2, sums);
  const auto rest = products;
  std::vector<Term> mixed = sums;
  for (const auto& sum : sums)
    for (const auto& one : rest)
      if (std::ranges::count(one.text, '*') < 2) mixed.push_back(product(sum, one));

  constexpr std::int64_t kMostAdded = 8;
  const auto exact = [&](const Term& term) -> std::optional<std::string> {
    return term.values == values ? std::optional(term.text) : std::nullopt;
  };
  const auto multiple = [&](const Term& term) -> std::optional<std::string> {
    const auto times = ratio(term.values, values);
    return times ? std::optional(fmt::format("{}*{}", *times, term.text)) : std::nullopt;
  };
  std::int64_t least = 0;
  const auto added = [&](const Term& term) -> std::optional<std::string> {
    const auto more = difference(term.values, values);
    if (!more || std::abs(*more) != least) return std::nullopt;
    return fmt::format("{} {} {}", term.text, *more < 0 ? "-" : "+", least);
  };
  /// The only match; several leave it open which is meant.
  const auto only = [](const std::vector<Term>& terms, const auto& match) {
    std::pair<std::optional<std::string>, int> found;
    for (const auto& term : terms)
      if (auto text = match(term)) {
        if (found.second++ == 0) found.first = std::move(text);
      }
    return found;
  };
  std::vector found{only(products, exact), only(products, multiple)};
  for (least = 1; least <= kMostAdded; ++least) found.push_back(only(products, added));
  found.push_back(only(mixed, exact));
  const auto first = std::ranges::find_if(found, [](const auto& one) { return one.second > 0; });
  return first != found.end() && first->second == 1 ? first->first : std::nullopt;
}

std::string tensors_example(const std::vector<Parameter>& parameters,
                            const std::vector<TensorSpec>& known) {
  std::string text;
  for (const auto& parameter : parameters) {
    if (parameter.kind != ParameterKind::tensor) continue;
    const auto spec = std::ranges::find(known, parameter.name, &TensorSpec::name);
    text += fmt::format(R"({}{{"name": "{}", "dtype": "{}", "shape": ["{}"], "role": "{}"}})",
                        text.empty() ? "" : ", ", parameter.name, name_of(parameter.dtype),
                        spec == known.end() || spec->shape.empty() ? "…" : spec->shape.front(),
                        parameter.is_const ? "in" : "out");
  }
  return "\"tensors\": [" + text + "]";
}

Result<ReferenceExtents> extents_of_reference(const ReferenceParts& parts, const TaskRequest& task,
                                              const Source& kernel, const Source& reference,
                                              const DeviceInfo& device, const CallContext& call) {
  Dims given = task.cases.empty() ? Dims{} : task.cases.front().dims;
  given.insert(task.dims.begin(), task.dims.end());
  if (given.size() > kMostDims) return ReferenceExtents{{}, "there are too many dims to try"};
  auto settings = settings_for(given);
  auto contract = plan_contract(oversized(task, settings), kernel, reference, device);
  if (!contract) return contract.error();
  contract->where = task.where;
  for (auto& setting : settings) setting = mended(*contract, std::move(setting));
  contract->where.reset();
  contract->judge.reset();
  contract->device_kind = DeviceKind::host;  // a reference in Python also runs on the processor
  auto oversized_parts = parts;
  oversized_parts.oversized = true;
  auto judge = Judge::open(oversized_parts, *contract, call);
  if (!judge) return judge.error();

  const auto buffers = contract->tensors.size();
  std::vector<std::vector<std::int64_t>> reached(buffers);
  const auto end = steady_clock::now() + kLongest;
  for (const auto& setting : settings) {
    Probe probe(**judge, end, call);
    if (auto begun = probe.begin(setting); !begun) return begun.error();
    for (std::size_t i = 0; i < buffers; ++i) {
      auto reach = probe.reach_of(probe.layout().buffers[i]);
      if (!reach) return reach.error();
      reached[i].push_back(*reach);
    }
  }

  ReferenceExtents found;
  std::size_t whole = 0;
  for (std::size_t i = 0; i < buffers; ++i) {
    auto& tensor = contract->tensors[i];
    const auto least = *std::ranges::min_element(reached[i]);
    const bool all_of_it = std::to_string(least) == tensor.shape.front();
    const auto extent =
        all_of_it || least == 0 ? std::nullopt : expression_for(settings, reached[i]);
    whole += all_of_it ? 1 : 0;
    if (!extent) {
      found.unclear += fmt::format("{}{} {}", found.unclear.empty() ? "" : ", ", tensor.name,
                                   all_of_it    ? "is taken whole, however large it is"
                                   : least == 0 ? "is not used"
                                                : "does not follow from the dims");
      continue;
    }
    tensor.shape = {*extent};
    found.tensors.push_back(tensor);
  }
  if (whole == buffers) return ReferenceExtents{};
  return found;
}

}  // namespace ratchet
