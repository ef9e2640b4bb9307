#include "kernels/measure/cupti/activity.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "kernels/measure/cupti/activity_recorder.h"

namespace ratchet::measure {
namespace {

Launch launch_of(const KernelRecord& record) {
  return {.kernel = readable_kernel_name(record.name ? record.name : "unknown"),
          .start_ns = static_cast<double>(record.start),
          .end_ns = static_cast<double>(record.end),
          .grid = {record.gridX, record.gridY, record.gridZ},
          .block = {record.blockX, record.blockY, record.blockZ},
          .cluster = {static_cast<int>(record.clusterX), static_cast<int>(record.clusterY),
                      static_cast<int>(record.clusterZ)},
          .registers = record.registersPerThread,
          .static_shared_bytes = record.staticSharedMemory,
          .dynamic_shared_bytes = record.dynamicSharedMemory,
          .configured_shared_bytes = record.sharedMemoryExecuted,
          .stream = record.streamId,
          .correlation = record.correlationId,
          .in_graph = record.graphId != 0};
}

/// Position of the parameter list at the end of a demangled name, or the name's length.
std::size_t parameters_at(const std::string& name) {
  if (name.empty() || name.back() != ')') return name.size();
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return name.size();
}

}  // namespace

std::string readable_kernel_name(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !demangled) return name;
  std::string text = demangled.get();
  text.resize(parameters_at(text));
  // Demangled templates include the return type, which is void for kernels.
  if (text.starts_with("void ")) text.erase(0, 5);
  return text;
}

Result<Observed> observe(Gpu& gpu, const Cupti& cupti, const Call& call) {
  Observed observed;
  const auto keep = [&](const CUpti_Activity& record) {
    if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
        record.kind == CUPTI_ACTIVITY_KIND_KERNEL)
      observed.launches.push_back(launch_of(reinterpret_cast<const KernelRecord&>(record)));
  };
  {
    auto recorder = ActivityRecorder::start(cupti, {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, keep);
    if (!recorder) return recorder.error();
    call();
    observed.failure = gpu.finish();
    (*recorder)->flush(observed.failure.has_value());
  }
  std::sort(observed.launches.begin(), observed.launches.end(),
            [](const Launch& a, const Launch& b) { return a.correlation < b.correlation; });
  return observed;
}

}  // namespace ratchet::measure
