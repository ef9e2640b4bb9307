#include "kernels/build/target.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "kernels/build/build_needs.h"
#include "server/core/text.h"
#include "server/facts/implementation_names.h"

namespace ratchet {
namespace {

constexpr std::string_view kImplementations =
    "Accepted: auto, host-cpp, cuda-cpp, cutlass, cute-dsl, triton, host-python, hip-cpp; aliases "
    "cpp, cuda, cute, hip.";

std::string suffix_of(std::string_view file_name) {
  return std::filesystem::path(file_name).extension().string();
}

bool is_cpp(const std::string& suffix) {
  return suffix == ".cpp" || suffix == ".cc" || suffix == ".cxx";
}

/// Whether a file with this suffix can hold the implementation.
bool fits(Implementation implementation, const std::string& suffix) {
  switch (implementation) {
    case Implementation::host_cpp:
      return is_cpp(suffix);
    case Implementation::cuda_cpp:
    case Implementation::cutlass:
      return suffix == ".cu";
    case Implementation::cute_dsl:
    case Implementation::triton:
    case Implementation::host_python:
      return suffix == ".py";
    case Implementation::hip_cpp:
      return suffix == ".hip";
  }
  return false;
}

Error unknown_implementation(const std::string& name) {
  return invalid_argument(fmt::format("implementation: unknown value \"{}\"", name),
                          std::string(kImplementations));
}

Result<Implementation> by_suffix(const std::string& suffix) {
  if (suffix == ".cu") return Implementation::cuda_cpp;
  if (suffix == ".hip") return Implementation::hip_cpp;
  if (suffix == ".py") return Implementation::triton;
  if (is_cpp(suffix)) return Implementation::host_cpp;
  return invalid_argument(
      fmt::format("kernel: cannot tell the implementation from the suffix \"{}\"", suffix),
      "Use .cu, .cpp, .py or .hip, or give `implementation`.");
}

/// "sm_90a" → 90; 0 for any other name.
int number_of(std::string_view arch) {
  if (!arch.starts_with("sm_")) return 0;
  arch.remove_prefix(3);
  if (arch.size() > 1 && (arch.back() == 'a' || arch.back() == 'f')) arch.remove_suffix(1);
  const bool digits = std::ranges::all_of(arch, [](unsigned char c) { return std::isdigit(c); });
  return digits && (arch.size() == 2 || arch.size() == 3) ? std::stoi(std::string(arch)) : 0;
}

Result<std::string> checked_arch(const std::string& wanted, const DeviceInfo& device) {
  const auto arch = std::isdigit(static_cast<unsigned char>(wanted.empty() ? 'x' : wanted[0]))
                        ? "sm_" + wanted
                        : wanted;
  const int number = number_of(arch);
  if (number == 0)
    return invalid_argument(
        fmt::format("arch: \"{}\" is not the name of a GPU architecture", wanted),
        "Use a name such as sm_90 or sm_90a.");
  const int present = number_of(device.arch);
  // A cubin runs on its own major revision, at its minor or a later one (CUDA programming guide).
  if (present != 0 && (number / 10 != present / 10 || number > present))
    return invalid_argument(
        fmt::format("arch: code for {} does not run on {} ({})", arch, device.name, device.arch),
        "Leave `arch` out to build for the device.");
  return arch;
}

}  // namespace

Result<Implementation> resolve_implementation(const std::optional<std::string>& wanted,
                                              std::string_view file_name) {
  const auto name = lowered(wanted.value_or("auto"));
  const auto suffix = suffix_of(file_name);
  if (name == "auto") return by_suffix(suffix);
  const auto meant = implementations_named(name);
  if (meant.empty()) return unknown_implementation(name);
  const auto fitting =
      std::ranges::find_if(meant, [&](Implementation one) { return fits(one, suffix); });
  if (fitting != meant.end()) return *fitting;
  return invalid_argument(
      fmt::format("implementation: {} does not match the file {}", name, file_name),
      "host-cpp is .cpp, cuda-cpp and cutlass are .cu, hip-cpp is .hip, triton, cute-dsl and "
      "host-python are .py.");
}

Result<Implementation> implementation_named(const std::string& name) {
  const auto meant = implementations_named(name);
  if (meant.empty()) return unknown_implementation(lowered(name));
  return meant.front();
}

Result<Implementation> implementation_of_run(const std::optional<std::string>& wanted,
                                             std::string_view file_name) {
  auto implementation = resolve_implementation(wanted, file_name);
  if (implementation && is_only_built(*implementation))
    return unavailable(
        fmt::format("kernel: {} is HIP, and nothing here runs on AMD GPUs", file_name),
        "disassemble builds it and shows its registers, memory and machine code; import_profile "
        "reads what rocprof counted elsewhere, in a run of another implementation.");
  return implementation;
}

DeviceKind device_kind_of(Implementation implementation) {
  return is_host(implementation) ? DeviceKind::host : DeviceKind::cuda;
}

Result<ReferenceKind> reference_kind_of(std::string_view file_name) {
  const auto suffix = suffix_of(file_name);
  if (suffix == ".py") return ReferenceKind::python;
  if (suffix == ".cu") return ReferenceKind::cuda;
  if (is_cpp(suffix)) return ReferenceKind::cpp;
  return invalid_argument(fmt::format("reference: the suffix of \"{}\" is not known", file_name),
                          "Use ref.py, ref.cpp or ref.cu.");
}

Result<std::string> resolve_arch(const std::optional<std::string>& wanted, const DeviceInfo& device,
                                 std::string_view source) {
  if (device.kind == DeviceKind::host) {
    if (wanted && *wanted != "native")
      return invalid_argument(
          fmt::format("arch: \"{}\" was given, but kernels for the processor have no choice of "
                      "architecture",
                      *wanted),
          "Leave `arch` out: they are built for the processor of this machine.");
    return std::string("native");
  }
  auto arch = checked_arch(wanted.value_or(device.arch), device);
  if (!arch) return arch;
  return exact_arch(*arch, build_needs(source));
}

Result<std::string> resolve_hip_arch(const std::optional<std::string>& wanted) {
  const auto hint = "Give the target's name, such as gfx90a (MI200) or gfx1030 (RX 6800).";
  if (!wanted) return invalid_argument("arch: no AMD GPU is here that could be built for", hint);
  std::string_view name = *wanted;
  const bool named = name.starts_with("gfx") && name.size() > 3 &&
                     std::isdigit(static_cast<unsigned char>(name[3])) != 0;
  const bool plain = std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == ':' || c == '+' || c == '-';
  });
  if (named && plain) return *wanted;
  return invalid_argument(fmt::format("arch: \"{}\" is not the name of an AMD GPU", *wanted), hint);
}

Result<std::vector<std::string>> resolve_baselines(const std::vector<std::string>& wanted) {
  std::vector<std::string> resolved;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(resolved, name) == resolved.end()) resolved.emplace_back(name);
  };
  for (const auto& given : wanted) {
    auto name = lowered(given);
    std::ranges::replace(name, '_', '-');
    std::ranges::replace(name, '.', '-');
    const bool all = name == "all" || name == "default";
    const bool none = name == "none" || name == "off" || name == "false" || name == "0" ||
                      name == "empty" || name.empty();
    const bool eager = name == "pytorch-eager" || name == "eager" || name == "pytorch" ||
                       name == "torch" || name == "torch-eager";
    const bool compiled = name == "torch-compile" || name == "compile" || name == "pytorch-compile";
    const bool flash = name == "flashinfer" || name == "flash-infer";
    const bool vendor = name == "vendor" || name == "cublas";
    const bool ancestor = name == "v0" || name == "parent";  // always compared
    if (!(all || none || eager || compiled || flash || vendor || ancestor))
      return invalid_argument(
          fmt::format("baselines: unknown name \"{}\"", given),
          "Accepted: pytorch-eager, torch-compile, flashinfer, vendor, all, none.");
    if (all || eager) add("pytorch-eager");
    if (all || compiled) add("torch-compile");
    if (all || flash) add("flashinfer");
    if (vendor) add("vendor");
  }
  return resolved;
}

std::string kernel_name_of(std::string_view file_name) {
  std::string name;
  for (const char c : std::filesystem::path(file_name).stem().string()) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += lower(c);
    else if (!name.empty() && name.back() != '_')
      name += '_';
    if (name.size() == 40) break;
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() ? "kernel" : name;
}

}  // namespace ratchet
