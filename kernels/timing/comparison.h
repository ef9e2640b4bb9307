#pragma once

#include <optional>
#include <span>
#include <string>

#include "kernels/protocol/messages.h"
#include "server/facts/timing.h"

namespace ratchet {

// What is said about a comparison once it has been computed. Pure and thread-safe.

/// Flags of a comparison. `kBimodal`: see above. `kThrottled`: samples were dropped for their
/// clock. `kCoresHeld`: see `judge_neighbors`. `kOwnNoise`: see `hold_against_own`. `kTracingBias`:
/// see `judge_tracing`. `kDeviceShared`: processes of others were on the GPU, or threads of others
/// on all cores, before or after the session; rounds alternate, so its verdict stays.
inline constexpr const char* kBimodal = "bimodal";
inline constexpr const char* kThrottled = "throttled";
inline constexpr const char* kCoresHeld = "cores_held";
inline constexpr const char* kOwnNoise = "own_noise";
inline constexpr const char* kTracingBias = "tracing_bias";
inline constexpr const char* kDeviceShared = "device_shared";
void add_flag(Comparison& comparison, const char* flag);
[[nodiscard]] bool has_flag(const Comparison& comparison, const char* flag);

/// How many rounds like those behind an inconclusive comparison would decide it: its interval
/// shrinks with their root. Empty if no number would: it is bimodal, noisier than `kMostNoise`, or
/// too close to a limit for 100 times as many.
[[nodiscard]] std::optional<double> rounds_to_decide(const Comparison& comparison);

/// The same comparison from the other side's view, which is called `against`.
[[nodiscard]] Comparison inverted(const Comparison& comparison, std::string against);

/// Makes a comparison inconclusive if other processes may have caused it: they held the cores for
/// a larger share of one side's time than of the other's (0..1, `wire::Samples::held`), and without
/// that waiting the verdict would not stand. Rounds alternate, so both sides usually wait alike.
void judge_neighbors(double candidate_held, double other_held, Comparison& comparison);

/// How far two processes of one kernel differ in a comparison, as a fraction; empty unless its
/// interval lies beyond the noise floor.
[[nodiscard]] std::optional<double> own_noise(const Comparison& itself);

/// Makes a verdict inconclusive whose interval is not beyond this many times the candidate's own
/// noise: a kernel whose processes differ by more than others' is not told from itself by two of
/// them. The factor: one difference says little about how large the next will be.
inline constexpr double kOwnNoiseTimes = 3;
void hold_against_own(double own_noise, Comparison& comparison);

/// The share over a contestant's blocks; 0 where the device does not say.
[[nodiscard]] double held_share(std::span<const wire::Samples> blocks);

/// What recording a contestant's kernels may have added to a call, at most over its blocks, ns; 0
/// where nothing was recorded, or the call has one kernel.
[[nodiscard]] double tracing_of(std::span<const wire::Samples> blocks);
/// The same as a share of the median call, 0..1.
[[nodiscard]] double tracing_share(std::span<const wire::Samples> blocks);

/// A time of which tracing may be a larger share is flagged `kTracingBias`: single kernels of 30 to
/// 60 µs are told 2 to 3 % apart by the device's stamps and by events around the call, so that a
/// smaller share is within what the choice of a clock decides.
inline constexpr double kMostTracing = 0.02;

/// Says in the time what tracing may have added (`tracing_ns`), and flags it.
void note_tracing(double tracing_ns, Timing& timing);

/// Makes a verdict inconclusive that would not stand if tracing had added nothing to either side: a
/// version with fewer kernels is recorded less. Shares of each side's time, 0..1. A gain that is
/// larger stays, and so do the verdicts of versions with the same launches.
void judge_tracing(double candidate_share, double other_share, Comparison& comparison);

}  // namespace ratchet
