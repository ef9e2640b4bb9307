#include "kernels/process/gpu_node.h"

#include <fstream>
#include <string>

namespace ratchet {
namespace {

namespace fs = std::filesystem;

/// What follows "name:" in a file of lines "name: value", without white space around it.
std::string value_of(const fs::path& file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with(":")) continue;
    const auto first = line.find_first_not_of(" \t", name.size() + 1);
    return first == std::string::npos
               ? ""
               : line.substr(first, line.find_last_not_of(" \t") + 1 - first);
  }
  return "";
}

}  // namespace

std::optional<fs::path> gpu_node(std::string_view uuid, const fs::path& listed,
                                 const fs::path& devices) {
  std::optional<fs::path> found;
  if (uuid.empty()) return found;
  std::error_code failed;
  for (const auto& gpu : fs::directory_iterator(listed, failed)) {
    const auto file = gpu.path() / "information";
    if (value_of(file, "GPU UUID") != uuid) continue;
    const auto minor = value_of(file, "Device Minor");
    if (found || minor.empty() || minor.find_first_not_of("0123456789") != std::string::npos)
      return std::nullopt;
    found = devices / ("nvidia" + minor);
  }
  if (found && !fs::exists(*found, failed)) return std::nullopt;
  return found;
}

}  // namespace ratchet
