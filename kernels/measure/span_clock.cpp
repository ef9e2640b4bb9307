#include "kernels/measure/span_clock.h"

#include <algorithm>
#include <string_view>

namespace ratchet::measure {

Result<std::unique_ptr<SpanClock>> SpanClock::create() {
  auto cupti = Cupti::load();
  if (!cupti) return cupti.error();
  std::unique_ptr<SpanClock> clock(new SpanClock(*cupti));
  auto recorder = ActivityRecorder::start(
      clock->cupti_,
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
       CUPTI_ACTIVITY_KIND_MEMSET},
      [raw = clock.get()](const CUpti_Activity& record) { raw->note(record); });
  if (!recorder) return recorder.error();
  clock->recorder_ = *std::move(recorder);
  return clock;
}

void SpanClock::note(const CUpti_Activity& record) {
  const auto add = [&](const auto& one, bool blocker, bool in_graph) {
    works_.push_back(
        {static_cast<double>(one.start), static_cast<double>(one.end), blocker, in_graph});
  };
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = reinterpret_cast<const KernelRecord&>(record);
      add(kernel, kernel.name && std::string_view(kernel.name) == kBlockerKernel,
          kernel.graphId != 0);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      add(reinterpret_cast<const CopyRecord&>(record), false, false);
      break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      add(reinterpret_cast<const FillRecord&>(record), false, false);
      break;
    default:
      break;
  }
}

SpanClock::Span SpanClock::take() {
  recorder_->flush();
  Span span;
  double released = 0;
  for (const auto& work : works_) {
    if (!work.blocker) continue;
    ++span.blockers;
    released = work.end_ns;
  }
  double first = 0, last = 0;
  for (const auto& work : works_) {
    // CUPTI reports an unknown time as 0.
    if (span.blockers != 1 || work.blocker || work.start_ns < released || work.end_ns <= 0)
      continue;
    first = span.works == 0 ? work.start_ns : std::min(first, work.start_ns);
    last = std::max(last, work.end_ns);
    span.tracing_ns += work.in_graph ? kTracedNodeNs : kTracedLaunchNs;
    ++span.works;
  }
  works_.clear();
  if (span.works < 2) span.tracing_ns = 0;
  span.ns = last - first;
  return span;
}

}  // namespace ratchet::measure
