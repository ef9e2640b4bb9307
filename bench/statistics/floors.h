#pragma once

namespace ratchet::bench {

/// How often a further comparison of a kernel with itself exceeds the calibrated floor.
void noise_floors(int calibrations);

/// What a calibration on an 8 MB kernel of 4.4 µs leaves to be seen at 5.4 µs within a second.
void short_kernels(int trials);

/// A kernel whose processes differ by more than the calibration's, with and without a comparison of
/// two of them.
void own_noises(int trials);

}  // namespace ratchet::bench
