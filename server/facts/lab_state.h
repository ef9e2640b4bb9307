#pragma once

#include <optional>
#include <string>

#include "server/core/field.h"

namespace ratchet {

/// A remote lab as `list_labs` shows it.
struct LabState {
  std::string name;
  std::string command;
  std::string state;                ///< off, starting, working, idle
  std::optional<std::string> host;  ///< as it calls itself
  std::optional<std::string> program;
  double seconds = 0;  ///< held, all times it was started together
  int starts = 0;
  int calls = 0;
  std::optional<std::string> error;  ///< why it ended last, unless it was idle

  static constexpr void fields(auto&& visit) {
    using L = LabState;
    visit(required<&L::name>("Argument `lab` of create_run."),
          required<&L::command>("Its command."),
          required<&L::state>("off, starting, working or idle."),
          optional<&L::host>("As the machine calls itself."),
          optional<&L::program>("SHA-256 of its ratchet."),
          required<&L::seconds>("Time it was held, s."), required<&L::starts>("Times started."),
          required<&L::calls>("Calls answered."), optional<&L::error>("Why it ended last."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<LabState>();
}  // namespace ratchet::fields_detail
