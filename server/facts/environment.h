#pragma once

// What a machine offers: devices, toolchains, counter permission. Made by `kernels`, rendered into
// `env_check.md` by `server/runs`.

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
          required("index", &D::index, "Device index."), required("name", &D::name, ""),
          required("arch", &D::arch, ""), required("uuid", &D::uuid, ""),
          required("driver", &D::driver, ""), required("memory_bytes", &D::memory_bytes, ""),
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
    visit(required("name", &I::name, ""), required("ready", &I::ready, ""),
          required("missing", &I::missing, "What it lacks."));
  }
};

struct ToolState {
  std::string name;
  bool found = false;
  std::string version;
  std::string detail;

  static constexpr void fields(auto&& visit) {
    using T = ToolState;
    visit(required("name", &T::name, ""), required("found", &T::found, ""),
          required("version", &T::version, ""), required("detail", &T::detail, ""));
  }
};

struct CounterState {
  bool permitted = false;
  std::string engine;  ///< cupti, perf_event or none
  std::string how_to_grant;

  static constexpr void fields(auto&& visit) {
    using C = CounterState;
    visit(required("permitted", &C::permitted, "Found out by a real probe."),
          required("engine", &C::engine, ""),
          required("how_to_grant", &C::how_to_grant, "Empty when permitted."));
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
          required("implementations", &E::implementations, "Readiness of each."),
          required("tools", &E::tools, "Helper programs and libraries."),
          required("counters", &E::counters, "Hardware counter permission."),
          required("sandbox", &E::sandbox, "What isolates candidate code here."),
          required("ratchet_version", &E::ratchet_version, ""));
  }
};

}  // namespace ratchet
