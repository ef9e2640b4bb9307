#include "kernels/process/device_contention.h"

#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

TEST_CASE("only processes on the given GPU count as contention", "[contention]") {
  const std::string said =
      "GPU-aaa, 4711, python3\n"
      "GPU-bbb, 4712, /usr/bin/train, with a comma\n"
      "GPU-aaa, 4713, [Not Found]\n"
      "No running processes found\n";

  CHECK(parse_compute_apps(said, "GPU-aaa", {4712}) ==
        std::vector<std::string>{"pid 4711 python3", "pid 4713 [Not Found]"});
  CHECK(parse_compute_apps(said, "GPU-bbb", {}) ==
        std::vector<std::string>{"pid 4712 /usr/bin/train, with a comma"});
  CHECK(parse_compute_apps(said, "GPU-aaa", {4711}) ==
        std::vector<std::string>{"pid 4713 [Not Found]"});
  CHECK(parse_compute_apps("", "GPU-aaa", {}).empty());
}

TEST_CASE("unknown contention is reported with the reason", "[contention]") {
  CHECK(described({{}, "nvidia-smi"}) == "other processes: none (nvidia-smi)");
  CHECK(described({{"pid 1 x"}, "nvidia-smi"}) == "other processes: pid 1 x (nvidia-smi)");
  CHECK(described({{}, "not known: nvidia-smi is not installed"}) ==
        "other processes: not known: nvidia-smi is not installed");
}

TEST_CASE("the host counts its runnable threads", "[contention]") {
  DeviceInfo host;
  host.multiprocessors = 1'000'000;  // more cores than could be busy

  const auto found = device_contention(host, {});

  CHECK(found.source == "/proc/stat");
  CHECK(found.processes.empty());
}
