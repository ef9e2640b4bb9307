#pragma once

#include <memory>

#include "kernels/lab.h"
#include "server/core/tool.h"
#include "server/runs/runs.h"

namespace ratchet {

/// Has the tool's answer say when the machine that a run is measured on is no longer what the run
/// recorded, and records what it is: another driver, compiler or wall. Looks once a run in the life
/// of this server, unless the run was created in it, and after each start of its lab's command;
/// whoever lies about itself is believed. The device itself may not change, which the lab refuses.
/// One for all tools; `runs` and `lab` outlive it. Thread-safe.
class WatchedMachine {
 public:
  WatchedMachine(Runs& runs, Lab& lab);
  [[nodiscard]] Tool told_by(Tool tool) const;

 private:
  class Looks;
  std::shared_ptr<Looks> looks_;
};

}  // namespace ratchet
