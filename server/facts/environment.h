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
  std::int64_t l2_bytes = 0;  ///< last-level cache
  int multiprocessors = 0;    ///< SMs, or cores

  static constexpr void fields(auto&& visit) {
    using D = DeviceInfo;
    visit(required("kind", &D::kind, "host or cuda."),
          required("index", &D::index, "Device index."),
          required("name", &D::name, "Name of the device."),
          required("arch", &D::arch, "Architecture, such as sm_90 or x86-64."),
          required("uuid", &D::uuid, "UUID; empty on the host."),
          required("driver", &D::driver, "CUDA driver or kernel release."),
          required("memory_bytes", &D::memory_bytes, "Memory, bytes."),
          required("l2_bytes", &D::l2_bytes, "Last-level cache, bytes."),
          required("multiprocessors", &D::multiprocessors, "SMs or cores."));
  }
};

struct ImplementationState {
  Implementation name = Implementation::host_cpp;
  bool ready = false;
  std::vector<std::string> missing;

  static constexpr void fields(auto&& visit) {
    using I = ImplementationState;
    visit(required("name", &I::name, "Implementation."),
          required("ready", &I::ready, "Whether it can be used here."),
          required("missing", &I::missing, "What it needs and was not found."));
  }
};

struct ToolState {
  std::string name;
  bool found = false;
  std::string version;
  std::string detail;

  static constexpr void fields(auto&& visit) {
    using T = ToolState;
    visit(required("name", &T::name, "Program or library."),
          required("found", &T::found, "Whether it was found."),
          required("version", &T::version, "Its version."),
          required("detail", &T::detail, "Where it is, or what is wrong."));
  }
};

struct CounterState {
  bool permitted = false;
  std::string engine;  ///< cupti, perf_event or none
  std::string how_to_grant;

  static constexpr void fields(auto&& visit) {
    using C = CounterState;
    visit(required("permitted", &C::permitted, "Result of a real probe."),
          required("engine", &C::engine, "cupti, perf_event or none."),
          required("how_to_grant", &C::how_to_grant,
                   "How to grant permission; empty when permitted."));
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
    visit(required("devices", &E::devices, "Usable devices."),
          required("implementations", &E::implementations,
                   "Whether each can be used here, and what it lacks."),
          required("tools", &E::tools, "Helper programs and libraries."),
          required("counters", &E::counters, "Permission for hardware counters."),
          required("sandbox", &E::sandbox, "What isolates candidate code here."),
          required("ratchet_version", &E::ratchet_version, "Version of this server."));
  }
};

}  // namespace ratchet
