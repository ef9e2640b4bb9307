#include "kernels/worker/cuda/device_judge.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/worker/generate.h"
#include "kernels/worker/init_text.h"
#include "kernels/worker/numbers.h"
#include "kernels/worker/random.h"

namespace ratchet::worker {
namespace {

constexpr std::size_t kResultBytes = 256;
constexpr std::uint32_t kPoisonStream = 0xFFFFFFFFU;
constexpr std::int64_t kPreview = 8;

/// Operations of judge.cu.
enum Operation : long long {
  random_bytes_,
  gaussian_,
  uniform_,
  compare_bytes_,
  squares_,
  output_
};

/// Records of judge.cu.
struct Squares {
  double sum = 0;
  std::uint64_t finite = 0;
};
struct Tally {
  double max_abs = 0, max_rel = 0, sum_abs = 0;
  std::uint64_t finite = 0, mismatches = 0, unwritten = 0, unexpected = 0, first_bad = 0;
};

long long word(const std::byte* pointer) {
  return static_cast<long long>(reinterpret_cast<std::uintptr_t>(pointer));
}

long long word(double value) {
  return std::bit_cast<long long>(value);
}

/// 128 bits of a hexadecimal seed as two words.
std::array<long long, 2> key_of(std::string_view hex) {
  std::array<std::uint64_t, 2> words{};
  for (std::size_t i = 0; i < words.size(); ++i)
    std::from_chars(hex.data() + 16 * i,
                    hex.data() + std::min<std::size_t>(hex.size(), 16 * i + 16), words[i], 16);
  return {static_cast<long long>(words[0]), static_cast<long long>(words[1])};
}

bool made_on_device(DType type) {
  return type == DType::f64 || type == DType::f32 || type == DType::f16 || type == DType::bf16;
}

}  // namespace

CudaJudge::CudaJudge(measure::Gpu& gpu, void* entry) : gpu_(gpu) {
  static_assert(sizeof entry_ == sizeof entry);
  std::memcpy(&entry_, &entry, sizeof entry);
}

Result<std::array<Fd, 2>> CudaJudge::share(std::int64_t bytes) {
  const auto room = static_cast<std::size_t>(bytes + kShiftRoom);
  for (auto* shared : {&candidate_, &reference_}) {
    auto memory = measure::SharedMemory::create(gpu_, room);
    if (!memory) return memory.error();
    shared->emplace(*std::move(memory));
  }
  for (auto* own : {&sent_, &returned_, &earlier_}) {
    auto memory = measure::DeviceMemory::allocate(static_cast<std::size_t>(bytes));
    if (!memory) return memory.error();
    *own = *std::move(memory);
  }
  auto result = measure::DeviceMemory::allocate(kResultBytes);
  if (!result) return result.error();
  result_ = *std::move(result);
  auto first = candidate_->descriptor();
  if (!first) return first.error();
  auto second = reference_->descriptor();
  if (!second) return second.error();
  return std::array<Fd, 2>{*std::move(first), *std::move(second)};
}

void CudaJudge::run(std::initializer_list<long long> words) const {
  entry_(words.begin());
}

Status CudaJudge::copy(std::byte* to, const std::byte* from) const {
  return measure::queue_copy(to, from, static_cast<std::size_t>(layout_.bytes));
}

Status CudaJudge::pose(const job::Pose& plan) {
  if (!candidate_) return Error{ErrorCode::internal, "nothing is shared yet", ""};
  again_ = plan.again;
  shift_ = plan.shift;
  if (plan.again) {
    std::swap(returned_, earlier_);
  } else {
    layout_ = plan.content.layout;
    if (layout_.bytes > static_cast<std::int64_t>(sent_.bytes()) || shift_ < 0 ||
        shift_ > kShiftRoom)
      return Error{ErrorCode::internal, "the trial does not fit the shared memory", ""};
    if (auto filled = fill(plan.content); !filled) return filled;
    if (auto copied = copy(reference_->data(), sent_.data()); !copied) return copied;
  }
  if (auto copied = copy(candidate_->data() + shift_, sent_.data()); !copied) return copied;
  if (auto failure = gpu_.finish())
    return Error{ErrorCode::internal, "the judge cannot make a trial: " + *failure, ""};
  return {};
}

/// Random bytes everywhere, which guards and outputs keep; then the inputs.
Status CudaJudge::fill(const job::Generate& plan) {
  const auto key = key_of(plan.seed);
  run({random_bytes_, word(sent_.data()), layout_.bytes, 0, key[0], key[1], kPoisonStream});
  std::uint32_t stream = 0;
  for (const auto& buffer : layout_.buffers) {
    if (buffer.role != Role::out)
      if (auto filled = fill_input(buffer, plan, stream); !filled) return filled;
    ++stream;
  }
  return {};
}

Status CudaJudge::fill_input(const job::Buffer& buffer, const job::Generate& plan,
                             std::uint32_t stream) {
  const auto key = key_of(plan.seed);
  std::byte* const to = sent_.data() + buffer.offset;
  const auto init = parse_init_text(buffer.init);
  const bool normal = init && init->kind == "normal";
  const bool uniform = init && init->kind == "uniform" && init->numbers.size() == 2;
  if (made_on_device(buffer.dtype) && (normal || uniform)) {
    const auto shape = normal_of(plan.distribution, buffer.dtype);
    if (!shape) return shape.error();
    run({normal ? gaussian_ : uniform_, word(to), buffer.elements,
         static_cast<long long>(buffer.dtype), key[0], key[1], stream,
         word(normal ? shape->mean : init->numbers[0]),
         word(normal ? shape->deviation : init->numbers[1])});
    return {};
  }
  job::Generate alone = plan;
  alone.layout = {buffer.bytes(), {buffer}};
  alone.layout.buffers[0].offset = 0;
  // Its own seed: on the host every layout starts with the same stream.
  alone.seed = plan.seed.substr(stream % 16) + plan.seed.substr(0, stream % 16);
  std::vector<std::byte> made(static_cast<std::size_t>(buffer.bytes()));
  if (auto filled = generate(made, alone); !filled) return filled;
  return sent_.write(static_cast<std::size_t>(buffer.offset), made);
}

Status CudaJudge::clear_result() {
  return measure::queue_clear(result_.data(), kResultBytes);
}

template <class Record>
Result<Record> CudaJudge::result_of() const {
  if (auto failure = gpu_.finish())
    return Error{ErrorCode::internal, "the judge cannot compare: " + *failure, ""};
  std::array<std::byte, sizeof(Record)> bytes{};
  if (auto got = result_.read(0, bytes); !got) return got.error();
  return std::bit_cast<Record>(bytes);
}

Result<bool> CudaJudge::differ(const std::byte* a, const std::byte* b, std::int64_t bytes) {
  if (auto cleared = clear_result(); !cleared) return cleared.error();
  run({compare_bytes_, word(a), bytes, 0, word(b), word(result_.data())});
  auto flag = result_of<std::uint64_t>();
  if (!flag) return flag.error();
  return *flag != 0;
}

/// Guards and inputs; names the first buffer concerned.
Status CudaJudge::check_untouched(job::Comparison& verdict) {
  const auto range = [&](std::int64_t from, std::int64_t to) {
    return differ(sent_.data() + from, returned_.data() + from, to - from);
  };
  std::int64_t end = 0;
  std::string before = layout_.buffers.empty() ? "" : layout_.buffers.front().name;
  const auto guard = [&](std::int64_t to) -> Status {
    auto differs = range(end, to);
    if (!differs) return differs.error();
    if (*differs && verdict.guards_intact) {
      verdict.guards_intact = false;
      verdict.touched = before;
    }
    return {};
  };
  for (const auto& buffer : layout_.buffers) {
    if (auto seen = guard(buffer.offset); !seen) return seen;
    end = buffer.offset + buffer.bytes();
    before = buffer.name;
    if (buffer.role != Role::in) continue;
    auto differs = range(buffer.offset, end);
    if (!differs) return differs.error();
    if (!*differs) continue;
    verdict.inputs_intact = false;
    if (verdict.guards_intact) verdict.touched = buffer.name;
  }
  return guard(layout_.bytes);
}

Result<double> CudaJudge::scaled_atol(const job::Buffer& buffer, const job::Tolerance& tolerance) {
  if (tolerance.exact || tolerance.scale == job::AtolScale::absolute) return tolerance.atol;
  if (auto cleared = clear_result(); !cleared) return cleared.error();
  run({squares_, word(reference_->data() + buffer.offset), buffer.elements,
       static_cast<long long>(buffer.dtype), word(result_.data())});
  auto squares = result_of<Squares>();
  if (!squares) return squares.error();
  const double rms =
      squares->finite ? std::sqrt(squares->sum / static_cast<double>(squares->finite)) : 0;
  return tolerance.atol * (tolerance.scale == job::AtolScale::rms ? rms : std::min(1.0, rms));
}

Result<std::vector<double>> CudaJudge::preview(const std::byte* data,
                                               const job::Buffer& buffer) const {
  const auto count = std::min(kPreview, buffer.elements);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * size_of(buffer.dtype)));
  if (auto read = measure::read_device(data + buffer.offset, bytes); !read) return read.error();
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(element(bytes.data(), buffer.dtype, i));
  return values;
}

Status CudaJudge::judge_output(const job::Buffer& buffer, const job::Tolerance& tolerance,
                               job::Comparison& verdict) {
  auto atol = scaled_atol(buffer, tolerance);
  if (!atol) return atol.error();
  Tally start;
  start.first_bad = std::numeric_limits<std::uint64_t>::max();
  if (auto written = result_.write(0, std::as_bytes(std::span(&start, 1))); !written)
    return written;
  run({output_, word(returned_.data() + buffer.offset), buffer.elements,
       static_cast<long long>(buffer.dtype), word(sent_.data() + buffer.offset),
       word(reference_->data() + buffer.offset), tolerance.exact, word(*atol), word(tolerance.rtol),
       word(result_.data())});
  auto tally = result_of<Tally>();
  if (!tally) return tally.error();
  OutputError error;
  error.tensor = buffer.name;
  error.max_abs = tally->max_abs;
  error.max_rel = tally->max_rel;
  error.mean_abs = tally->finite ? tally->sum_abs / static_cast<double>(tally->finite) : 0;
  error.mismatches = static_cast<std::int64_t>(tally->mismatches);
  error.elements = buffer.elements;
  if (tally->mismatches > 0) error.first_bad = static_cast<std::int64_t>(tally->first_bad);
  auto got = preview(returned_.data(), buffer);
  if (!got) return got.error();
  auto expected = preview(reference_->data(), buffer);
  if (!expected) return expected.error();
  error.preview_kernel = *std::move(got);
  error.preview_reference = *std::move(expected);
  verdict.outputs.push_back(std::move(error));
  verdict.states.push_back(
      {static_cast<std::int64_t>(tally->unwritten), static_cast<std::int64_t>(tally->unexpected)});
  return {};
}

Result<bool> CudaJudge::same_outputs() {
  for (const auto& buffer : layout_.buffers) {
    if (buffer.role == Role::in) continue;
    auto differs =
        differ(returned_.data() + buffer.offset, earlier_.data() + buffer.offset, buffer.bytes());
    if (!differs) return differs.error();
    if (*differs) return false;
  }
  return true;
}

Result<DeviceJudge::Weighed> CudaJudge::weigh(const job::Weigh& plan) {
  const auto& tolerances = plan.compare.tolerances;
  if (!candidate_ || tolerances.size() != layout_.buffers.size())
    return Error{ErrorCode::internal, "one tolerance per buffer of a posed trial is needed", ""};
  if (auto copied = copy(returned_.data(), candidate_->data() + shift_); !copied)
    return copied.error();
  Weighed weighed;
  auto& verdict = weighed.comparison;
  if (auto seen = check_untouched(verdict); !seen) return seen.error();
  for (std::size_t i = 0; i < layout_.buffers.size(); ++i) {
    if (layout_.buffers[i].role == Role::in) continue;
    if (auto judged = judge_output(layout_.buffers[i], tolerances[i], verdict); !judged)
      return judged.error();
  }
  verdict.passed = verdict.guards_intact && verdict.inputs_intact && !verdict.outputs.empty() &&
                   std::ranges::all_of(verdict.outputs, [](const OutputError& output) {
                     return output.mismatches == 0;
                   });
  if (again_) {
    auto same = same_outputs();
    if (!same) return same.error();
    weighed.same_bits = *same;
  }
  return weighed;
}

}  // namespace ratchet::worker
