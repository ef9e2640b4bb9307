// The requests to a judge on the host, whose arenas are memory files.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/worker/combine.h"
#include "kernels/worker/compare.h"
#include "kernels/worker/controls.h"
#include "kernels/worker/describe.h"
#include "kernels/worker/generate.h"
#include "kernels/worker/job_loop.h"
#include "kernels/worker/job_replies.h"
#include "kernels/worker/refresh.h"
#include "kernels/worker/slice.h"

namespace ratchet::worker {
namespace {

/// The first three descriptors, as arenas to read.
Result<std::vector<Mapping>> map_arenas(const std::vector<Fd>& descriptors, std::int64_t bytes) {
  std::vector<Mapping> arenas;
  for (std::size_t i = 0; i < 3; ++i) {
    auto arena = map_at(descriptors, i, bytes, Mapping::Access::read);
    if (!arena) return arena.error();
    arenas.push_back(*std::move(arena));
  }
  return arenas;
}

}  // namespace

wire::Reply JobLoop::generate_arena(const wire::Generate& plan, const Descriptors& descriptors) {
  const auto arena = map_at(descriptors, 0, plan.layout.bytes, Mapping::Access::write);
  if (!arena) return ours(arena.error());
  if (auto filled = generate(arena->bytes(), plan); !filled) return ours(filled.error());
  return {};
}

wire::Reply JobLoop::refresh_arena(const wire::Refresh& plan, const Descriptors& descriptors) {
  const auto sent = map_at(descriptors, 0, plan.layout.bytes, Mapping::Access::read);
  if (!sent) return ours(sent.error());
  const auto refreshed = map_at(descriptors, 1, plan.layout.bytes, Mapping::Access::write);
  if (!refreshed) return ours(refreshed.error());
  refresh(plan, sent->bytes(), refreshed->bytes());
  return {};
}

wire::Reply JobLoop::change_arena(const wire::Change& plan, const Descriptors& descriptors) {
  const auto sent = map_at(descriptors, 0, plan.layout.bytes, Mapping::Access::read);
  if (!sent) return ours(sent.error());
  const auto changed = map_at(descriptors, 1, plan.layout.bytes, Mapping::Access::write);
  if (!changed) return ours(changed.error());
  if (auto done = change(plan, sent->bytes(), changed->bytes()); !done) return ours(done.error());
  return {};
}

wire::Reply JobLoop::combine_arenas(const wire::Combine& plan, const Descriptors& descriptors) {
  const auto first = map_at(descriptors, 0, plan.layout.bytes, Mapping::Access::read);
  if (!first) return ours(first.error());
  const auto combined = map_at(descriptors, 1, plan.layout.bytes, Mapping::Access::write);
  if (!combined) return ours(combined.error());
  const auto second = map_at(descriptors, 2, plan.layout.bytes, Mapping::Access::read);
  if (!second) return ours(second.error());
  combine(plan, first->bytes(), second->bytes(), combined->bytes());
  return {};
}

wire::Reply JobLoop::widen_arena(const wire::Widen& plan, const Descriptors& descriptors) {
  const auto sent = map_at(descriptors, 0, plan.layout.bytes, Mapping::Access::read);
  if (!sent) return ours(sent.error());
  const auto wide = map_at(descriptors, 1, plan.wide.bytes, Mapping::Access::write);
  if (!wide) return ours(wide.error());
  if (plan.wide.buffers.size() != plan.layout.buffers.size())
    return ours("the wide arena needs one entry per buffer");
  widen(plan, sent->bytes(), wide->bytes());
  return {};
}

wire::Reply JobLoop::describe_arena(const wire::Describe& plan, const Descriptors& descriptors) {
  const auto expected = map_at(descriptors, 0, plan.layout.bytes, Mapping::Access::read);
  if (!expected) return ours(expected.error());
  wire::Reply reply;
  reply.answered = describe(plan.layout, expected->bytes());
  return reply;
}

wire::Reply JobLoop::forge_arena(const wire::Forge& plan, const Descriptors& descriptors) {
  const auto given = map_arenas(descriptors, plan.layout.bytes);
  if (!given) return ours(given.error());
  const auto answer = map_at(descriptors, 3, plan.layout.bytes, Mapping::Access::write);
  if (!answer) return ours(answer.error());
  wire::Reply reply;
  reply.forged =
      forge(plan, {(*given)[0].bytes(), (*given)[1].bytes(), (*given)[2].bytes()}, answer->bytes());
  return reply;
}

wire::Reply JobLoop::compare_arenas(const wire::Compare& plan, const Descriptors& descriptors) {
  const auto arenas = map_arenas(descriptors, plan.layout.bytes);
  if (!arenas) return ours(arenas.error());
  if (plan.tolerances.size() != plan.layout.buffers.size())
    return ours("tolerances needs one entry per buffer");
  std::optional<Mapping> shadow;
  if (plan.wide) {
    if (plan.wide->buffers.size() != plan.layout.buffers.size())
      return ours("the shadow needs one entry per buffer");
    auto mapped = map_at(descriptors, 3, plan.wide->bytes, Mapping::Access::read);
    if (!mapped) return ours(mapped.error());
    shadow = *std::move(mapped);
  }
  std::optional<Mapping> terms;
  if (plan.with_terms) {
    auto mapped = map_at(descriptors, shadow ? 4 : 3, plan.layout.bytes, Mapping::Access::read);
    if (!mapped) return ours(mapped.error());
    terms = *std::move(mapped);
  }
  wire::Reply reply;
  reply.comparison = compare({(*arenas)[0].bytes(), (*arenas)[1].bytes(), (*arenas)[2].bytes(),
                              shadow ? shadow->bytes() : std::span<const std::byte>{},
                              terms ? terms->bytes() : std::span<const std::byte>{}},
                             plan);
  return reply;
}

}  // namespace ratchet::worker
