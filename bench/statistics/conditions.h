#pragma once

namespace ratchet::bench {

/// Verdicts where the device lowers its clock for a part of the samples.
void throttled_sessions(int trials);

/// Verdicts of the worst of several input distributions.
void worst_values(int trials);

}  // namespace ratchet::bench
