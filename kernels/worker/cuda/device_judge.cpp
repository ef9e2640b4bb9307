#include "kernels/worker/cuda/device_judge.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "kernels/protocol/shared_pieces.h"
#include "kernels/protocol/value_recipes.h"
#include "kernels/worker/compare_rules.h"
#include "kernels/worker/cuda/judge_words.h"
#include "kernels/worker/generate.h"
#include "kernels/worker/init_text.h"
#include "kernels/worker/random.h"
#include "kernels/worker/recipe_values.h"
#include "kernels/worker/refresh.h"
#include "kernels/worker/slice.h"
#include "kernels/worker/small_float.h"
#include "server/core/channel.h"

namespace ratchet::worker {
namespace {

constexpr std::uint32_t kPoisonStream = 0xFFFFFFFFU;

bool made_on_device(DType type) {
  return type == DType::f64 || type == DType::f32 || type == DType::f16 || type == DType::bf16;
}

/// What `Operation::rows` fills with.
struct Rows {
  RowShape shape;
  double own = 0;  ///< a value that the shape has
};

/// Empty for distributions whose values are independent of their place.
std::optional<Rows> rows_of(const std::string& distribution, DType type) {
  if (distribution == "special") return Rows{RowShape::special, subnormal_of(type)};
  if (distribution == "sequence") return Rows{RowShape::sequence};
  if (distribution == "extreme" && type == DType::f16) return Rows{RowShape::extreme};
  const auto recipe = recipe_of(distribution);
  if (recipe && is_edge(recipe->kind)) return Rows{RowShape::edge, edge_of(recipe->kind, type)};
  return std::nullopt;
}

}  // namespace

CudaJudge::CudaJudge(measure::Gpu& gpu, void* entry) : gpu_(gpu) {
  static_assert(sizeof entry_ == sizeof entry);
  std::memcpy(static_cast<void*>(&entry_), static_cast<const void*>(&entry), sizeof entry);
}

Result<std::vector<Fd>> CudaJudge::share(const wire::Share& plan) {
  const auto candidates = static_cast<std::size_t>(std::max(plan.candidates, 0));
  // The driver clears memory for a process that is new to it, but not what this one has freed.
  const bool again = reference_.has_value();
  candidates_.clear();
  if (auto made = make_own(plan.arena_bytes); !made) return made.error();
  candidate_bytes_ = plan.candidate_bytes + kShiftRoom;
  auto most = static_cast<std::int64_t>((Channel::kMaxDescriptors - 1) /
                                        std::max<std::size_t>(candidates, 1));
  if (plan.pieces > 0) most = std::min<std::int64_t>(most, plan.pieces);
  auto dealt =
      measure::SharedMemory::deal(gpu_, wire::pieces_of(candidate_bytes_, most), candidates);
  if (!dealt) return dealt.error();
  candidates_ = *std::move(dealt);
  if (again)
    if (auto blanked = blank(); !blanked) return blanked.error();
  auto descriptors = reference_->descriptors();
  if (!descriptors) return descriptors.error();
  for (const auto& memory : candidates_) {
    auto pieces = memory.descriptors();
    if (!pieces) return pieces.error();
    std::ranges::move(*pieces, std::back_inserter(*descriptors));
  }
  return descriptors;
}

std::int64_t CudaJudge::free_bytes() const {
  return static_cast<std::int64_t>(measure::free_device_memory());
}

Status CudaJudge::make_own(std::int64_t arena_bytes) {
  aside_ = {};
  if (reference_ && arena_bytes_ == arena_bytes) return {};
  reference_.reset();
  auto reference =
      measure::SharedMemory::create(gpu_, static_cast<std::size_t>(arena_bytes + kShiftRoom));
  if (!reference) return reference.error();
  for (auto* own : {&sent_, &returned_, &earlier_}) {
    auto memory = measure::DeviceMemory::allocate(static_cast<std::size_t>(arena_bytes));
    if (!memory) return memory.error();
    *own = *std::move(memory);
  }
  auto result = measure::DeviceMemory::allocate(kResultBytes + kHonestBytes);
  if (!result) return result.error();
  result_ = *std::move(result);
  reference_.emplace(*std::move(reference));
  arena_bytes_ = arena_bytes;
  return {};
}

Status CudaJudge::blank() const {
  std::random_device random;
  for (const auto& memory : candidates_)
    run({Operation::random_bytes, word(memory.data()), static_cast<long long>(memory.bytes()), 0,
         random(), random(), kPoisonStream});
  if (auto failure = gpu_.finish())
    return Error{ErrorCode::internal, "the judge cannot clear the shared memory: " + *failure};
  return {};
}

Result<std::byte*> CudaJudge::find(const wire::Place& place) const {
  const bool there = place.candidate >= 0 &&
                     place.candidate < static_cast<int>(candidates_.size()) && place.at >= 0 &&
                     place.at <= candidate_bytes_ - layout_.bytes;
  if (!there) return Error{ErrorCode::internal, "the place is outside every candidate's memory"};
  return candidates_[static_cast<std::size_t>(place.candidate)].data() + place.at;
}

void CudaJudge::run(std::initializer_list<long long> words) const {
  entry_(words.begin());
}

Status CudaJudge::copy(std::byte* to, const std::byte* from) const {
  return measure::queue_copy(to, from, static_cast<std::size_t>(layout_.bytes));
}

Result<std::optional<bool>> CudaJudge::generate(const wire::GenerateOnDevice& plan) {
  if (!reference_)
    return Error{ErrorCode::internal, "the judge has no memory shared with the kernel yet"};
  again_ = plan.again;
  std::optional<bool> same;
  if (plan.again) {
    std::swap(returned_, earlier_);
  } else {
    auto renewed = renew(plan);
    if (!renewed) return renewed.error();
    same = *renewed;
  }
  if (plan.place) {
    auto to = find(*plan.place);
    if (!to) return to.error();
    if (auto copied = copy(*to, sent_.data()); !copied) return copied.error();
  }
  if (auto failure = gpu_.finish())
    return Error{ErrorCode::internal, "the judge cannot generate a trial: " + *failure};
  return same;
}

Result<std::optional<bool>> CudaJudge::renew(const wire::GenerateOnDevice& plan) {
  std::optional<bool> same;
  if (plan.adopt) {
    auto adopted = adopt(plan.content.given);
    if (!adopted) return adopted.error();
    same = *adopted;
  } else {
    layout_ = plan.content.layout;
    if (layout_.bytes > static_cast<std::int64_t>(sent_.bytes()))
      return Error{ErrorCode::internal, "the trial does not fit into the shared memory"};
    if (auto filled = fill(plan.content); !filled) return filled.error();
    changed_ = plan.changed.has_value();
    if (changed_)
      if (auto done = change(plan.content, *plan.changed); !done) return done.error();
  }
  if (plan.uses)
    if (auto done = use(*plan.uses); !done) return done.error();
  if (auto copied = copy(reference_->data(), sent_.data()); !copied) return copied.error();
  return same;
}

Result<bool> CudaJudge::adopt(const std::vector<std::string>& given) {
  bool same = true;
  for (const auto& buffer : layout_.buffers) {
    if (std::ranges::find(given, buffer.name) == given.end()) continue;
    const auto* const made = reference_->data() + buffer.offset;
    auto differs = differ(earlier_.data() + buffer.offset, made, buffer.bytes());
    if (!differs) return differs.error();
    same = same && !*differs;
    const auto bytes = static_cast<std::size_t>(buffer.bytes());
    if (auto copied = measure::queue_copy(sent_.data() + buffer.offset, made, bytes); !copied)
      return copied.error();
  }
  return same;
}

/// Fills the arena with random bytes (guards and outputs keep them), then generates the inputs.
Status CudaJudge::fill(const wire::Generate& plan) {
  const auto key = key_of(plan.seed);
  run({Operation::random_bytes, word(sent_.data()), layout_.bytes, 0, key[0], key[1],
       kPoisonStream});
  std::uint32_t stream = 0;
  for (const auto& buffer : layout_.buffers) {
    const bool given = std::ranges::find(plan.given, buffer.name) != plan.given.end();
    if (buffer.role != Role::out && !given)
      if (auto filled = fill_input(buffer, plan, stream); !filled) return filled;
    ++stream;
  }
  return {};
}

Status CudaJudge::change(const wire::Generate& plan, const wire::Changed& changed) {
  wire::Generate other = plan;
  other.seed = changed.seed;
  std::uint32_t stream = 0;
  // Its function makes it from the trial's own seed, so it stays as it is.
  if (std::ranges::find(plan.given, changed.tensor) != plan.given.end()) return {};
  for (const auto& buffer : layout_.buffers) {
    if (buffer.name == changed.tensor && buffer.role != Role::out)
      return changed.slice ? move(buffer, *changed.slice) : fill_input(buffer, other, stream);
    ++stream;
  }
  return Error{ErrorCode::internal, "no input is called " + changed.tensor};
}

Status CudaJudge::move(const wire::Buffer& buffer, const wire::Slice& slice) {
  // One element, or the end of the first axis, lies in one piece: only that crosses the bus.
  wire::Buffer piece = buffer;
  wire::Slice moved = slice;
  if (slice.axis <= 0) {
    const auto inner = slice.axis < 0 ? 1 : buffer.elements / buffer.shape.front();
    piece.offset += slice.from * inner * size_of(buffer.dtype);
    piece.elements = (slice.to - slice.from) * inner;
    piece.shape = {piece.elements};
    moved = {-1, 0, piece.elements, slice.amount};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(piece.bytes()));
  if (auto failure = gpu_.finish())
    return Error{ErrorCode::internal, "the judge cannot generate a trial: " + *failure};
  if (auto read = measure::read_device(sent_.data() + piece.offset, bytes); !read) return read;
  if (auto done = move_slice(bytes, piece, moved); !done) return done;
  return sent_.write(static_cast<std::size_t>(piece.offset), bytes);
}

Status CudaJudge::use(const wire::Uses& uses) {
  if (!copies_) {
    auto made = measure::SmallCopies::create();
    if (!made) return made.error();
    copies_.emplace(*std::move(made));
  }
  const auto moves = moves_of_all(layout_, uses);
  std::vector<measure::SmallCopy> values;
  for (const auto& move : moves)
    values.push_back({sent_.data() + move.from, 0, static_cast<std::uint32_t>(move.bytes)});
  if (auto read = copies_->read(gpu_, values); !read) return read;
  for (std::size_t i = 0; i < moves.size(); ++i) values[i].at = sent_.data() + moves[i].to;
  return copies_->write(gpu_, values);
}

Status CudaJudge::fill_input(const wire::Buffer& buffer, const wire::Generate& plan,
                             std::uint32_t stream) {
  const auto key = key_of(plan.seed);
  std::byte* const to = sent_.data() + buffer.offset;
  const auto init = parse_init_text(buffer.init);
  const bool normal = init && init->kind == "normal";
  const bool uniform = init && init->kind == "uniform" && init->numbers.size() == 2;
  const auto in_rows = rows_of(plan.distribution, buffer.dtype);
  if (made_on_device(buffer.dtype) && normal && in_rows) {
    run({Operation::rows, word(to), buffer.elements, static_cast<long long>(buffer.dtype), key[0],
         key[1], stream, static_cast<long long>(in_rows->shape), worker::row_of(buffer),
         word(in_rows->own)});
    return {};
  }
  // Other recipes are rare enough to be made on the host; at the edges, these values are as always.
  const auto recipe = recipe_of(plan.distribution);
  const bool by_recipe = recipe && !is_edge(recipe->kind);
  if (made_on_device(buffer.dtype) && (normal || uniform) && !by_recipe) {
    const auto shape = normal_of(plan.distribution, buffer.dtype);
    if (!shape) return shape.error();
    run({normal ? Operation::gaussian : Operation::uniform, word(to), buffer.elements,
         static_cast<long long>(buffer.dtype), key[0], key[1], stream,
         word(normal ? shape->mean : init->numbers[0]),
         word(normal ? shape->deviation : init->numbers[1])});
    return {};
  }
  wire::Generate alone = plan;
  alone.layout = {buffer.bytes(), {buffer}};
  alone.layout.buffers[0].offset = 0;
  // A seed of its own, because on the host every layout starts with the same stream.
  alone.seed = plan.seed.substr(stream % 16) + plan.seed.substr(0, stream % 16);
  std::vector<std::byte> made(static_cast<std::size_t>(buffer.bytes()));
  if (auto filled = worker::generate(made, alone); !filled) return filled;
  return sent_.write(static_cast<std::size_t>(buffer.offset), made);
}

Result<bool> CudaJudge::differ(const std::byte* a, const std::byte* b, std::int64_t bytes) {
  if (auto cleared = clear_result(); !cleared) return cleared.error();
  run({Operation::compare_bytes, word(a), bytes, 0, word(b), word(result_.data())});
  auto flag = result_of<std::uint64_t>();
  if (!flag) return flag.error();
  return *flag != 0;
}

/// Checks guards and inputs; stores the name of the first buffer affected.
Status CudaJudge::check_untouched(wire::Comparison& verdict) {
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

Result<bool> CudaJudge::same_outputs(const std::byte* a, const std::byte* b) {
  for (const auto& buffer : layout_.buffers) {
    if (buffer.role == Role::in) continue;
    auto differs = differ(a + buffer.offset, b + buffer.offset, buffer.bytes());
    if (!differs) return differs.error();
    if (*differs) return false;
  }
  return true;
}

Result<bool> CudaJudge::writes_all() {
  if (!reference_) return Error{ErrorCode::internal, "no trial has been generated yet"};
  for (const auto& buffer : layout_.buffers) {
    if (buffer.role != Role::out) continue;
    // Compared exactly with the poison: mismatching elements were written.
    const auto* poison = sent_.data() + buffer.offset;
    auto tally = tally_of({.sent = poison,
                           .got = reference_->data() + buffer.offset,
                           .expected = poison,
                           .count = static_cast<std::uint64_t>(buffer.elements),
                           .type = static_cast<std::uint64_t>(buffer.dtype),
                           .exact = 1});
    if (!tally) return tally.error();
    // The number of elements that may equal their poison by chance.
    const double values = std::exp2(8.0 * static_cast<double>(size_of(buffer.dtype)));
    const double chance = 4 * static_cast<double>(buffer.elements) / values + 2;
    if (static_cast<double>(buffer.elements) - static_cast<double>(tally->mismatches) > chance)
      return false;
  }
  return true;
}

Result<wire::Comparison> CudaJudge::judged(const wire::Compare& plan) {
  const auto buffers = layout_.buffers.size();
  if (!reference_ || plan.tolerances.size() != buffers ||
      (plan.wide && (!wide_ || plan.wide->buffers.size() != buffers)) ||
      (plan.with_terms && aside_.bytes() < static_cast<std::size_t>(layout_.bytes)))
    return Error{ErrorCode::internal, "tolerances needs one entry per buffer of the trial"};
  wire::Comparison verdict;
  if (auto seen = check_untouched(verdict); !seen) return seen.error();
  for (std::size_t i = 0; i < layout_.buffers.size(); ++i) {
    if (layout_.buffers[i].role == Role::in) continue;
    auto done = judge_output(plan, i, returned_.data(), verdict);
    if (!done) return done.error();
  }
  verdict.passed = all_right(verdict);
  return verdict;
}

Result<DeviceJudge::Compared> CudaJudge::compare(const wire::CompareOnDevice& plan) {
  if (!plan.kept) {
    auto from = find(plan.place);
    if (!from) return from.error();
    if (auto copied = copy(returned_.data(), *from); !copied) return copied.error();
  }
  auto verdict = judged(plan.compare);
  if (!verdict) return verdict.error();
  Compared compared{*std::move(verdict), std::nullopt};
  if (again_ && !plan.kept) {
    auto same = same_outputs(returned_.data(), earlier_.data());
    if (!same) return same.error();
    compared.same_bits = *same;
  }
  return compared;
}

}  // namespace ratchet::worker
