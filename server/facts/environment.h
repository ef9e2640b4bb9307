#pragma once

// What a machine offers: devices, toolchains, permission for hardware counters. Created by
// `kernels`, rendered into `env_check.md` by `server/runs`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/contract.h"

namespace ratchet {

struct DeviceInfo {
  DeviceKind kind = DeviceKind::host;
  int index = 0;
  std::string name;
  std::string arch;    ///< "sm_90" or "x86-64"
  std::string uuid;    ///< empty on the host
  std::string driver;  ///< CUDA driver version, or the kernel's release
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;            ///< last-level cache
  int multiprocessors = 0;              ///< SMs, or cores
  std::optional<double> max_clock_mhz;  ///< the highest clock of a GPU's multiprocessors

  static constexpr void fields(auto&& visit) {
    using D = DeviceInfo;
    visit(required<&D::kind>("host or cuda."), required<&D::index>("Device index."),
          required<&D::name>("Name of the device."),
          required<&D::arch>("Architecture, such as sm_90 or x86-64."),
          required<&D::uuid>("UUID; empty on the host."),
          required<&D::driver>("CUDA driver or kernel release."),
          required<&D::memory_bytes>("Memory, bytes."),
          required<&D::l2_bytes>("Last-level cache, bytes."),
          required<&D::multiprocessors>("SMs or cores."),
          optional<&D::max_clock_mhz>("Highest clock of a GPU's SMs, MHz."));
  }
};

struct ImplementationState {
  Implementation name = Implementation::host_cpp;
  bool ready = false;
  std::vector<std::string> missing;

  static constexpr void fields(auto&& visit) {
    using I = ImplementationState;
    visit(required<&I::name>("Implementation."),
          required<&I::ready>("Whether it can be used here."),
          required<&I::missing>("What it needs and was not found."));
  }
};

struct ToolState {
  std::string name;
  bool found = false;
  std::string version;
  std::string detail;

  static constexpr void fields(auto&& visit) {
    using T = ToolState;
    visit(required<&T::name>("Program or library."), required<&T::found>("Whether it was found."),
          required<&T::version>("Its version."),
          required<&T::detail>("Where it is, or what is wrong."));
  }
};

struct CounterState {
  bool permitted = false;
  std::string engine;  ///< cupti, perf_event or none
  std::string how_to_grant;

  static constexpr void fields(auto&& visit) {
    using C = CounterState;
    visit(required<&C::permitted>("Result of a real probe."),
          required<&C::engine>("cupti, perf_event or none."),
          required<&C::how_to_grant>("How to grant permission; empty when permitted."));
  }
};

struct Environment {
  std::vector<DeviceInfo> devices;
  std::vector<ImplementationState> implementations;
  std::vector<ToolState> tools;
  CounterState counters;
  std::string sandbox;  ///< what isolates candidates here: "seccomp, no Landlock (kernel)"
  std::string ratchet_version;

  static constexpr void fields(auto&& visit) {
    using E = Environment;
    visit(required<&E::devices>("Usable devices."),
          required<&E::implementations>("Whether each can be used here, and what it lacks."),
          required<&E::tools>("Helper programs and libraries."),
          required<&E::counters>("Permission for hardware counters."),
          required<&E::sandbox>("What isolates candidate code here."),
          required<&E::ratchet_version>("Version of this server."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<DeviceInfo>();
extern template const FieldTable& table_of<ImplementationState>();
extern template const FieldTable& table_of<ToolState>();
extern template const FieldTable& table_of<CounterState>();
extern template const FieldTable& table_of<Environment>();
}  // namespace ratchet::fields_detail
