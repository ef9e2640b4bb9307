#include "server/facts/traits.h"

#include <fmt/format.h>

#include <set>

namespace ratchet {

Traits traits_of(const Environment& environment, std::optional<int> gpu) {
  Traits traits{{"ratchet", environment.ratchet_version}, {"walls", environment.sandbox}};
  for (const auto& one : environment.devices) {
    if (one.kind == DeviceKind::cuda && gpu && one.index != *gpu) continue;
    const auto name = fmt::format("{} device {}", name_of(one.kind), one.index);
    traits[name] =
        fmt::format("{} ({}, {} multiprocessors)", one.name, one.arch, one.multiprocessors);
    traits[name + ", driver"] = one.driver;
  }
  for (const auto& tool : environment.tools) traits[tool.name] = tool.found ? tool.version : "none";
  return traits;
}

std::vector<std::string> differences(const Traits& one, const Traits& other, const char* there) {
  std::set<std::string> names;
  for (const auto* all : {&one, &other})
    for (const auto& [name, value] : *all) names.insert(name);
  const auto value = [](const Traits& traits, const std::string& name) {
    const auto found = traits.find(name);
    return found == traits.end() ? std::string("none") : found->second;
  };
  std::vector<std::string> found;
  for (const auto& name : names)
    if (value(one, name) != value(other, name))
      found.push_back(
          fmt::format("{}: {}, {} {}", name, value(one, name), there, value(other, name)));
  return found;
}

}  // namespace ratchet
