#include "kernels/process/gpu_node.h"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

/// What the driver says about one GPU.
void list(const fs::path& gpus, const std::string& address, const std::string& uuid,
          const std::string& minor) {
  fs::create_directories(gpus / address);
  std::ofstream(gpus / address / "information")
      << "Model: \t\t NVIDIA H200\nIRQ:   \t\t 21\nGPU UUID: \t " << uuid
      << "\nVideo BIOS: \t 96.00.a5.00.01\nBus Location: \t " << address << "\nDevice Minor: \t "
      << minor << "\nGPU Excluded:\t No\n";
}

TEST_CASE("a GPU's node has the number that the driver gives it", "[process]") {
  const TempFolder folder;
  list(folder.path(), "0000:00:04.0", "GPU-b2c1", "3");
  list(folder.path(), "0000:00:05.0", "GPU-8f1d", "12");

  const TempFolder devices;
  std::ofstream(devices.path() / "nvidia12") << "";

  CHECK(gpu_node("GPU-8f1d", folder.path(), devices.path()) == devices.path() / "nvidia12");
  CHECK_FALSE(gpu_node("GPU-b2c1", folder.path(), devices.path()));  // its node is not shown here
}

TEST_CASE("a GPU that the driver does not list by its UUID has no node", "[process]") {
  const TempFolder folder;
  list(folder.path(), "0000:00:04.0", "GPU-????????", "0");
  list(folder.path(), "0000:00:05.0", "GPU-8f1d", "not known");

  const TempFolder devices;
  std::ofstream(devices.path() / "nvidia0") << "";

  CHECK_FALSE(gpu_node("", folder.path(), devices.path()));
  CHECK_FALSE(
      gpu_node("GPU-b2c1", folder.path(), devices.path()));  // a part of a GPU, or not listed yet
  CHECK_FALSE(gpu_node("GPU-8f1d", folder.path(), devices.path()));
  CHECK_FALSE(gpu_node("GPU-8f1d", folder.path() / "none", devices.path()));
}

TEST_CASE("two GPUs with one UUID have no node", "[process]") {
  const TempFolder folder;
  list(folder.path(), "0000:00:04.0", "GPU-8f1d", "0");
  list(folder.path(), "0000:00:05.0", "GPU-8f1d", "1");

  const TempFolder devices;
  std::ofstream(devices.path() / "nvidia0") << "";
  std::ofstream(devices.path() / "nvidia1") << "";

  CHECK_FALSE(gpu_node("GPU-8f1d", folder.path(), devices.path()));
}

}  // namespace
}  // namespace ratchet
