#pragma once

#include "kernels/diagnosis/diagnosis.h"
#include "kernels/diagnosis/diagnosis_metrics.h"

namespace ratchet {

/// The patterns of a GPU kernel. Letters in titles are those of the fourteen patterns that
/// optimisers know by letter (A small grid … N divergence); others have none.
///
/// Headroom is the share of the time that could go. What makes warps wait can win at most what the
/// busiest unit leaves free; what wastes that unit's work can win more. A rule whose metric is
/// missing says nothing. Pure.
void cuda_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings);

/// The patterns of a kernel on the host.
void host_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings);

/// Calls as short as this are mostly their launch (as TensorRT-LLM's performance guide has it).
inline constexpr double kLaunchBoundNs = 10'000;

}  // namespace ratchet
