#pragma once

namespace ratchet::bench {

/// What is lost where a distant side of a comparison gets one call a round.
void distant_sides(int trials);

/// Whether a screening finds the fastest branch as often beside a distant parent that gets one.
void distant_screenings(int trials);

}  // namespace ratchet::bench
