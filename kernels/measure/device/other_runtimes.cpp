#include "kernels/measure/device/other_runtimes.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <link.h>

#include <string_view>
#include <vector>

namespace ratchet::measure {
namespace {

int collect(dl_phdr_info* info, std::size_t, void* found) {
  const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
  if (path.find("libcudart.so") != std::string_view::npos)
    static_cast<std::vector<std::string>*>(found)->emplace_back(path);
  return 0;
}

}  // namespace

std::optional<std::string> take_error_of_other_runtimes() {
  std::vector<std::string> paths;
  dl_iterate_phdr(collect, &paths);
  std::optional<std::string> message;
  for (const auto& path : paths) {
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    const auto take =
        reinterpret_cast<decltype(&cudaGetLastError)>(dlsym(library, "cudaGetLastError"));
    const auto name =
        reinterpret_cast<decltype(&cudaGetErrorName)>(dlsym(library, "cudaGetErrorName"));
    const auto text =
        reinterpret_cast<decltype(&cudaGetErrorString)>(dlsym(library, "cudaGetErrorString"));
    if (take && name && text)
      if (const auto error = take(); error != cudaSuccess)
        message = std::string(name(error)) + ": " + text(error);
    dlclose(library);
  }
  return message;
}

}  // namespace ratchet::measure
