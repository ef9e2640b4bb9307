#include "server/runs/records/method_registry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace ratchet {

/// Front matter of the method pages as a JSON array. The build generates its definition from
/// kbs/content/docs/methods (kbs/index_tool).
extern const std::string_view kMethodPages;

namespace {

Axis axis_in(const std::string& text) {
  if (text == "compute") return Axis::compute;
  return text == "memory" ? Axis::memory : Axis::latency;
}

std::vector<Method> read_pages() {
  std::vector<Method> methods;
  for (const auto& page : Json::parse(kMethodPages)) {
    const auto text = [&](const char* field) { return page.at(field).get<std::string>(); };
    const auto list = [&](const char* field) {
      return page.at(field).get<std::vector<std::string>>();
    };
    Method method;
    method.name = text("method_id");
    method.id = text("axis") + "." + method.name;
    method.title = text("title");
    method.page = text("id");
    method.axis = axis_in(text("axis"));
    method.priority = page.at("priority").get<int>();
    method.min_sm = page.at("min_sm").get<int>();
    method.features = list("required_features");
    for (const auto& row : page.at("trigger"))
      method.triggers.push_back({row.at("metric").get<std::string>(), row.at("good").get<double>(),
                                 row.at("bad").get<double>()});
    method.conflicts = list("conflicts_with");
    method.complements = list("complements");
    method.coupled = list("coupled_with");
    method.has_signature = !page.at("sass").empty() || !page.at("sass_absent").empty();
    methods.push_back(std::move(method));
  }
  std::ranges::sort(methods, {}, [](const Method& m) { return std::pair(m.axis, m.priority); });
  return methods;
}

}  // namespace

const std::vector<Method>& method_registry() {
  static const std::vector<Method> methods = read_pages();
  return methods;
}

const Method* find_method(std::string_view id) {
  for (const auto& method : method_registry())
    if (method.id == id || method.name == id) return &method;
  return nullptr;
}

int sm_of(const Contract& contract) {
  if (contract.device_kind != DeviceKind::cuda || !contract.arch.starts_with("sm_")) return 0;
  const auto digits = std::string_view(contract.arch).substr(3);
  int sm = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), sm);
  return sm;
}

std::vector<std::string_view> features_of(int sm) {
  // CUDA C++ Programming Guide, compute capabilities, and PTX ISA, target requirements.
  switch (sm) {
    case 70:
      return {"tensor_core"};
    case 75:
      return {"tensor_core", "ldmatrix"};
    case 80:
    case 86:
    case 87:
      return {"tensor_core", "ldmatrix", "cp_async", "l2_persistence", "mbarrier"};
    case 89:
      return {"tensor_core", "ldmatrix", "cp_async", "l2_persistence", "mbarrier", "fp8_e4m3"};
    case 90:
      return {"tensor_core", "ldmatrix", "cp_async", "l2_persistence",
              "mbarrier",    "fp8_e4m3", "tma",      "wgmma",
              "cluster",     "dsmem",    "pdl",      "warp_specialization"};
    case 100:
    case 103:
      return {"tensor_core",
              "ldmatrix",
              "cp_async",
              "l2_persistence",
              "mbarrier",
              "fp8_e4m3",
              "tma",
              "tcgen05",
              "tmem",
              "cluster",
              "dsmem",
              "pdl",
              "warp_specialization",
              "block_scaling",
              "clc"};
    case 120:
    case 121:
      return {"tensor_core",
              "ldmatrix",
              "cp_async",
              "l2_persistence",
              "mbarrier",
              "fp8_e4m3",
              "tma",
              "cluster",
              "dsmem",
              "pdl",
              "warp_specialization",
              "block_scaling",
              "clc"};
    default:
      return {};
  }
}

std::optional<std::string_view> obstacle(const Method& method, int sm) {
  // Every GPU has these, so that they name no feature; a processor has none of them.
  constexpr std::array<std::string_view, 8> kGpuOnly{
      "bank_conflict", "cooperative_cluster", "cuda_graphs",       "handwritten_ptx_inline",
      "launch_config", "stream_event",        "thread_coarsening", "tile_scheduler_swizzle"};
  if (sm == 0 && std::ranges::find(kGpuOnly, method.name) != kGpuOnly.end())
    return "feature_unavailable";
  if (method.min_sm > sm) return "arch_incompatible";
  const auto offered = features_of(sm);
  const bool all = std::ranges::all_of(method.features, [&](const std::string& feature) {
    return std::ranges::find(offered, feature) != offered.end();
  });
  if (!all) return "feature_unavailable";
  return std::nullopt;
}

std::string ablation_macro(const Method& method) {
  std::string macro = "ABLATE_" + method.id;
  std::ranges::replace(macro, '.', '_');
  return macro;
}

}  // namespace ratchet
