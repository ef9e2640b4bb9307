#include "kernels/process/energy_meter.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <utility>

namespace ratchet {
namespace {

constexpr int kSuccess = 0;  // nvmlReturn_t

/// A function of a library; null if it has none of this name and version.
template <class Function>
Function symbol(void* library, const char* name) {
  return std::bit_cast<Function>(::dlsym(library, name));
}

std::string_view loading_error() {
  const char* const why = ::dlerror();
  return why == nullptr ? "unknown" : why;
}

}  // namespace

/// The library, initialized; its functions as NVML's documentation declares them.
struct EnergyMeter::Library {
  using Device = void*;

  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_uuid)(const char* uuid, Device* device) = nullptr;
  int (*energy)(Device device, unsigned long long* millijoules) = nullptr;
  const char* (*error)(int code) = nullptr;
  bool ready = false;
  Device device = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (ready) (void)shutdown();
    if (handle != nullptr) ::dlclose(handle);
  }

  [[nodiscard]] Error failure(std::string_view what, int code) const {
    return unavailable(fmt::format("NVML cannot {}: {}", what, error(code)));
  }
};

EnergyMeter::EnergyMeter(std::unique_ptr<Library> library) : library_(std::move(library)) {}
EnergyMeter::EnergyMeter(EnergyMeter&&) noexcept = default;
EnergyMeter& EnergyMeter::operator=(EnergyMeter&&) noexcept = default;
EnergyMeter::~EnergyMeter() = default;

Result<EnergyMeter> EnergyMeter::open(const DeviceInfo& device, const std::string& library) {
  auto nvml = std::make_unique<Library>();
  nvml->handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (nvml->handle == nullptr)
    return unavailable(fmt::format("{} cannot be loaded: {}", library, loading_error()));
  nvml->init = symbol<decltype(nvml->init)>(nvml->handle, "nvmlInit_v2");
  nvml->shutdown = symbol<decltype(nvml->shutdown)>(nvml->handle, "nvmlShutdown");
  nvml->by_uuid = symbol<decltype(nvml->by_uuid)>(nvml->handle, "nvmlDeviceGetHandleByUUID");
  nvml->energy =
      symbol<decltype(nvml->energy)>(nvml->handle, "nvmlDeviceGetTotalEnergyConsumption");
  nvml->error = symbol<decltype(nvml->error)>(nvml->handle, "nvmlErrorString");
  if (!nvml->init || !nvml->shutdown || !nvml->by_uuid || !nvml->energy || !nvml->error)
    return unavailable(
        fmt::format("{} counts no energy: it is older than the function for it", library));
  if (const int code = nvml->init(); code != kSuccess) return nvml->failure("start", code);
  nvml->ready = true;
  if (const int code = nvml->by_uuid(device.uuid.c_str(), &nvml->device); code != kSuccess)
    return nvml->failure("find " + device.uuid, code);
  EnergyMeter meter(std::move(nvml));
  if (auto first = meter.millijoules(); !first) return first.error();
  return meter;
}

Result<double> EnergyMeter::millijoules() const {
  unsigned long long counted = 0;
  if (const int code = library_->energy(library_->device, &counted); code != kSuccess)
    return library_->failure("read the energy", code);
  return static_cast<double>(counted);
}

}  // namespace ratchet
