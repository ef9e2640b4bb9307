#pragma once

#include <memory>
#include <string>

#include "server/core/result.h"
#include "server/facts/environment.h"

namespace ratchet {

/// The energy that a GPU says it has taken, counted by its driver for the whole card and read in
/// this process, which no kernel shares. The count moves every 20 to 100 ms.
///
/// Thread-safe.
class EnergyMeter {
 public:
  /// Loads NVIDIA's management library and finds the device by its UUID. Errors: `unavailable` with
  /// the reason: no library, no such device, a device or part of one that counts no energy, or no
  /// permission.
  static Result<EnergyMeter> open(const DeviceInfo& device,
                                  const std::string& library = "libnvidia-ml.so.1");
  EnergyMeter(EnergyMeter&&) noexcept;
  EnergyMeter& operator=(EnergyMeter&&) noexcept;
  ~EnergyMeter();

  /// Since the driver was loaded. Errors: `unavailable`.
  [[nodiscard]] Result<double> millijoules() const;

 private:
  struct Library;
  explicit EnergyMeter(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
};

}  // namespace ratchet
