#include "kernels/process/energy_meter.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A library with NVML's functions, for the seam: the card "GPU-here" counts 500 mJ more at every
/// reading.
constexpr const char* kStandIn = R"(
#include <cstring>
static bool started;
static unsigned long long counted;
extern "C" {
int nvmlInit_v2() { started = true; return 0; }
int nvmlShutdown() { started = false; return 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (!started) return 1;
  if (std::strncmp(uuid, "GPU-", 4) != 0) return 6;
  *device = (void*)(std::strcmp(uuid, "GPU-here") == 0 ? &counted : nullptr);
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* energy) {
  if (!started || device != &counted) return 3;
  *energy = counted += 500;
  return 0;
}
const char* nvmlErrorString(int code) {
  return code == 6 ? "Not Found" : code == 3 ? "Not Supported" : "Uninitialized";
}
}
)";

/// The path of a library that is compiled from this text.
std::string library_of(const test::TempFolder& folder, const std::string& text) {
  const auto source = folder.path() / "nvml.cpp";
  const auto library = folder.path() / "libstand-in.so";
  REQUIRE(write_file(source, text));
  ProcessSpec spec;
  spec.argv = {find_program("g++")->string(),
               "-shared",
               "-fPIC",
               "-o",
               library.string(),
               "-x",
               "c++",
               source.string()};
  spec.environment = inherited_environment({"PATH"});
  const auto said = run_program(spec, std::chrono::seconds(60), {});
  REQUIRE(said);
  REQUIRE(said->status.clean());
  return library.string();
}

DeviceInfo card(const std::string& uuid) {
  DeviceInfo device;
  device.kind = DeviceKind::cuda;
  device.uuid = uuid;
  return device;
}

}  // namespace

TEST_CASE("the energy of a card is what its driver counted", "[energy]") {
  const test::TempFolder folder;
  const auto library = library_of(folder, kStandIn);

  const auto meter = EnergyMeter::open(card("GPU-here"), library);

  REQUIRE(meter);
  const auto first = meter->millijoules();
  const auto second = meter->millijoules();
  REQUIRE(first);
  REQUIRE(second);
  CHECK(*second - *first == 500);
}

TEST_CASE("a card that counts no energy, or is not there, is said with NVML's reason", "[energy]") {
  const test::TempFolder folder;
  const auto library = library_of(folder, kStandIn);

  const auto part = EnergyMeter::open(card("GPU-part"), library);
  const auto absent = EnergyMeter::open(card("MIG-1"), library);

  REQUIRE_FALSE(part);
  CHECK(part.error().code == ErrorCode::unavailable);
  CHECK(part.error().message == "NVML cannot read the energy: Not Supported");
  REQUIRE_FALSE(absent);
  CHECK(absent.error().message == "NVML cannot find MIG-1: Not Found");
}

TEST_CASE("without the library, or with an older one, no energy is read", "[energy]") {
  const auto none = EnergyMeter::open(card("GPU-here"), "/nowhere/libnvidia-ml.so.1");
  const auto other = EnergyMeter::open(card("GPU-here"), "libm.so.6");

  REQUIRE_FALSE(none);
  CHECK_THAT(none.error().message,
             ContainsSubstring("/nowhere/libnvidia-ml.so.1 cannot be loaded"));
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error().message, ContainsSubstring("libm.so.6 counts no energy"));
}
