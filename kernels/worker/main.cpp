// ratchet-worker <judge|candidate|counter|tool|profiled> <device index>
//
// Started by the server with one end of a private socket as descriptor 3, its only connection; ends
// when the socket closes.

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/worker/device.h"
#include "kernels/worker/job_loop.h"
#include "kernels/worker/native_kernel.h"
#include "server/core/channel.h"

namespace {

constexpr int kControlDescriptor = 3;

int usage() {
  std::fputs("ratchet-worker is started by ratchet, not by hand\n", stderr);
  return 2;
}

/// Toolkits outside of the system's folders, such as in a home: kernels are linked with their
/// runtime.
std::vector<std::string> toolkits() {
  std::vector<std::string> folders;
  for (const auto* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(name);
    std::error_code failed;
    const auto folder = std::filesystem::canonical(value ? value : "", failed);
    if (!failed && folder.has_relative_path() &&
        std::filesystem::exists(folder / "bin/nvcc", failed))
      folders.push_back(folder.string());
  }
  return folders;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return usage();
  const auto role = ratchet::confine::parse_role(argv[1]);
  const std::string_view number = argv[2];
  int index = 0;
  const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), index);
  if (!role || failed != std::errc{} || end != number.data() + number.size()) return usage();

  ratchet::Channel channel(ratchet::Fd(kControlDescriptor), ratchet::Descriptors::accepted);
  const auto device = ratchet::worker::make_device();
  ratchet::worker::NativeKernel kernel;
  const int code = ratchet::worker::JobLoop(*role, *device, kernel, channel).run(index, toolkits());
  // Skips exit handlers, which the kernel's library may have registered.
  ::_exit(code);
}
