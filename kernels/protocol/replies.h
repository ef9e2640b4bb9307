#pragma once

// Replies of a worker. See messages.h for the roles.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/protocol/counters.h"
#include "server/core/fields.h"
#include "server/facts/correctness.h"
#include "server/facts/environment.h"
#include "server/facts/profile.h"

namespace ratchet::wire {

/// Raw samples in launch order.
struct Samples {
  std::vector<double> elapsed_ns;
  std::vector<double>
      clock_mhz;  ///< parallel to elapsed_ns, or empty if the device cannot report it
  std::vector<std::string> flags;  ///< launch_gap_included, unsynchronised_work, …
  bool time_limit_hit = false;
  std::string conditions;      ///< which clock, which cores; for display
  std::optional<double> held;  ///< share of the block in which other processes held the cores
  /// Of a call of several kernels: what recording them may have added to its time.
  std::optional<double> tracing_ns;

  static constexpr void fields(auto&& visit) {
    visit(required<&Samples::elapsed_ns>(), required<&Samples::clock_mhz>(),
          required<&Samples::flags>(), required<&Samples::time_limit_hit>(),
          required<&Samples::conditions>(), optional<&Samples::held>(),
          optional<&Samples::tracing_ns>());
  }
};

struct CeilingValue {
  std::string what;
  double value = 0;
  std::string unit;

  static constexpr void fields(auto&& visit) {
    visit(required<&CeilingValue::what>(), required<&CeilingValue::value>(),
          required<&CeilingValue::unit>());
  }
};

/// Further defects of one output, besides its distance from the expected values.
struct OutputState {
  std::int64_t unwritten = 0;   ///< wrong elements that still hold the poison they were sent with
  std::int64_t unexpected = 0;  ///< NaN or infinity where another value is expected
  bool right = true;            ///< enough elements match
  std::optional<double> noise;  ///< RMS error over that of an honest kernel, if it is too large
  std::optional<double> bias;   ///< mean error towards zero over its RMS, if it is to be reported
  std::optional<std::int64_t> flushed;  ///< zeros in place of small values, if there are too many

  static constexpr void fields(auto&& visit) {
    using O = OutputState;
    visit(required<&O::unwritten>(), required<&O::unexpected>(), required<&O::right>(),
          optional<&O::noise>(), optional<&O::bias>(), optional<&O::flushed>());
  }
};

/// Facts about the reference's answer to a trial.
struct Answered {
  bool writes_all = true;                ///< no stretch of poison remains
  std::optional<std::string> unwritten;  ///< an output that the reference did not write at all
  bool same_as_before = false;  ///< bit-identical to the answer to the trial without the change
  std::vector<double> rms;      ///< of the finite values of each output, in the layout's order
  std::int64_t not_finite = 0;  ///< NaN and infinite values in all outputs

  static constexpr void fields(auto&& visit) {
    visit(required<&Answered::writes_all>(), optional<&Answered::unwritten>(),
          required<&Answered::same_as_before>(), optional<&Answered::rms>(),
          optional<&Answered::not_finite>());
  }
};

/// Verdict of one Compare.
struct Comparison {
  bool guards_intact = true;
  bool inputs_intact = true;
  std::optional<std::string>
      touched;          ///< the buffer next to the broken guard, or the changed input
  bool passed = false;  ///< all outputs within tolerance, guards and inputs intact
  std::vector<OutputError> outputs;
  std::vector<OutputState> states;  ///< parallel to `outputs`
  // Of the server, never on the wire.
  std::string objection;  ///< of the task's own check
  bool by_terms = false;  ///< passed only by what sums of its terms' magnitude may be off by
  std::string no_shadow;  ///< why the device has no answer in float64 that was asked for

  static constexpr void fields(auto&& visit) {
    using C = Comparison;
    visit(required<&C::guards_intact>(), required<&C::inputs_intact>(), optional<&C::touched>(),
          required<&C::passed>(), required<&C::outputs>(), required<&C::states>());
  }
};

/// Worker to server. The first reply is unsolicited and means READY: `device` and `devices` are
/// set. `fault`: caused by the kernel. `error`: our own failure (out of memory for our buffers, no
/// device).
struct Reply {
  std::optional<Fault> fault;
  std::optional<std::string> error;
  std::optional<DeviceInfo> device;
  std::optional<int> devices;  ///< of this kind that the process can see
  std::optional<std::string> sandbox;
  std::optional<Samples> samples;
  std::optional<Counters> counters;
  std::optional<int> uses;     ///< of a collected arena: calls since it was prepared
  std::optional<bool> forged;  ///< false: the control does not apply to this layout
  /// Of a CompareOnDevice after a GenerateOnDevice with `again`: the outputs; of one with `adopt`:
  /// the given inputs, beside those of the last unchanged trial that was described.
  std::optional<bool> same_bits;
  std::optional<bool> fits;                ///< false: free device memory does not suffice
  std::optional<std::int64_t> free_bytes;  ///< of the device's memory, beside what was shared
  std::optional<Answered> answered;
  std::optional<Comparison> comparison;
  std::optional<std::vector<CeilingValue>> ceilings;

  static constexpr void fields(auto&& visit) {
    using R = Reply;
    visit(optional<&R::fault>(), optional<&R::error>(), optional<&R::device>(),
          optional<&R::devices>(), optional<&R::sandbox>(), optional<&R::samples>(),
          optional<&R::counters>(), optional<&R::uses>(), optional<&R::forged>(),
          optional<&R::same_bits>(), optional<&R::fits>(), optional<&R::free_bytes>(),
          optional<&R::answered>(), optional<&R::comparison>(), optional<&R::ceilings>());
  }
};

}  // namespace ratchet::wire

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<wire::Samples>();
extern template const FieldTable& table_of<wire::CeilingValue>();
extern template const FieldTable& table_of<wire::OutputState>();
extern template const FieldTable& table_of<wire::Answered>();
extern template const FieldTable& table_of<wire::Comparison>();
extern template const FieldTable& table_of<wire::Reply>();
}  // namespace ratchet::fields_detail
