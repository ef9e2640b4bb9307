#include "kernels/lab/neighbors.h"

#include <algorithm>
#include <utility>

namespace ratchet {

Neighbors::Neighbors(DeviceInfo device, const CallContext& call)
    : device_(std::move(device)), call_(call), seen_(device_contention(device_, call)) {}

void Neighbors::look_again() {
  for (auto& one : device_contention(device_, call_).processes)
    if (std::ranges::find(seen_.processes, one) == seen_.processes.end())
      seen_.processes.push_back(std::move(one));
}

void Neighbors::note(Timing& timing) const {
  timing.conditions += (timing.conditions.empty() ? "" : "; ") + text();
  if (any()) timing.flags.emplace_back(kDeviceShared);
}

void Neighbors::note(Comparison& comparison) const {
  if (any()) add_flag(comparison, kDeviceShared);
}

}  // namespace ratchet
