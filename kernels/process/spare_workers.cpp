#include "kernels/process/spare_workers.h"

#include <algorithm>

namespace ratchet {
namespace {

/// Whether processes of both are the same until they are asked something.
bool alike(const WorkerSpec& a, const WorkerSpec& b) {
  return a.argv == b.argv && a.environment == b.environment &&
         a.address_space_bytes == b.address_space_bytes && a.memory_bytes == b.memory_bytes &&
         a.resident_bytes == b.resident_bytes && a.start_deadline == b.start_deadline &&
         a.gives_descriptors == b.gives_descriptors;
}

bool starts_ahead(const WorkerSpec& spec) {
  return !spec.spawn && !spec.furnish;
}

}  // namespace

std::size_t SpareWorkers::keep(const WorkerSpec& spec, std::size_t count, std::size_t most) {
  if (!starts_ahead(spec)) return 0;
  const auto there = static_cast<std::size_t>(
      std::ranges::count_if(idle_.all, [&](const auto& one) { return alike(one.first, spec); }));
  std::size_t started = 0;
  while (there + started < count && started < most) {
    auto worker = WorkerProcess::launch(spec);
    if (!worker) break;
    idle_.all.emplace_back(spec, *std::move(worker));
    ++started;
  }
  return started;
}

Result<WorkerProcess> SpareWorkers::take(const WorkerSpec& spec) {
  // One that was ready before it died would look like one that dies of what it is asked.
  std::erase_if(idle_.all, [](auto& one) { return one.second.died(); });
  const auto found =
      std::ranges::find_if(idle_.all, [&](const auto& one) { return alike(one.first, spec); });
  if (!starts_ahead(spec) || found == idle_.all.end()) return WorkerProcess::launch(spec);
  auto worker = std::move(found->second);
  idle_.all.erase(found);
  served_ = true;
  return worker;
}

void SpareWorkers::settle(const CallContext& call) {
  std::erase_if(idle_.all, [&](auto& one) { return !one.second.greet(call) || one.second.died(); });
}

Result<WorkerProcess> launched(SpareWorkers* spares, const WorkerSpec& spec) {
  return spares ? spares->take(spec) : WorkerProcess::launch(spec);
}

}  // namespace ratchet
