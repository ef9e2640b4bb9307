#pragma once

#include "server/facts/environment.h"

namespace ratchet::test {

/// A device that reported so much about itself.
inline DeviceInfo some_processor() {
  DeviceInfo device;
  device.name = "a processor";
  device.arch = "x86-64";
  return device;
}

inline DeviceInfo hopper() {
  DeviceInfo device;
  device.kind = DeviceKind::cuda;
  device.name = "NVIDIA H200";
  device.arch = "sm_90";
  return device;
}

}  // namespace ratchet::test
