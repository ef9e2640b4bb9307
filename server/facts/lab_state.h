#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/environment.h"

namespace ratchet {

/// A remote lab as `list_labs` shows it.
struct LabState {
  std::string name;
  std::string group;  ///< labs that are meant to be alike; its own name for one alone
  std::vector<std::string> tags;
  std::string command;
  std::string state;                ///< off, starting, working, idle
  std::optional<std::string> host;  ///< as it calls itself
  std::optional<std::string> program;
  double seconds = 0;  ///< held, all times it was started together
  double used = 0;     ///< of these with a call, s
  std::optional<double> cost_per_hour;
  std::optional<double> cost;  ///< of the seconds held
  std::optional<std::string> currency;
  std::int64_t sent = 0, received = 0;  ///< bytes over its line
  int starts = 0;
  int calls = 0;
  std::optional<std::string> error;    ///< why it ended last, unless it was idle
  std::optional<std::string> differs;  ///< from another of its group, for which it cannot stand in

  static constexpr void fields(auto&& visit) {
    using L = LabState;
    visit(required<&L::name>("Argument `lab` of create_run."),
          required<&L::group>("Labs of one group are meant to be alike."), required<&L::tags>(),
          required<&L::command>("Its command."),
          required<&L::state>("off, starting, working or idle."),
          optional<&L::host>("As the machine calls itself."),
          optional<&L::program>("SHA-256 of its ratchet."),
          required<&L::seconds>("Time it was held, s."),
          required<&L::used>("Of these with a call, s."), optional<&L::cost_per_hour>(),
          optional<&L::cost>("Of the time held."), optional<&L::currency>(),
          required<&L::sent>("Bytes, to it."), required<&L::received>("Bytes, from it."),
          required<&L::starts>("Times started."), required<&L::calls>("Calls answered."),
          optional<&L::error>("Why it ended last."),
          optional<&L::differs>("Why it cannot stand in for others of its group."));
  }
};

/// How sharply kernels of a run were compared: the noise floor, a fraction, and their time.
struct SeenNoise {
  double floor = 0;
  double time_ns = 0;
};

/// Where a run is measured, and what another lab must equal to take it over.
struct MeasuredOn {
  std::string lab;
  DeviceKind kind = DeviceKind::host;
  int device = 0;
  Environment environment;         ///< as recorded of the run
  std::optional<SeenNoise> noise;  ///< of its newest comparison; empty: it has none
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<LabState>();
}  // namespace ratchet::fields_detail
