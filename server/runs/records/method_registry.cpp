#include "server/runs/records/method_registry.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "method_pages.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

// The order in which the build writes the fields of a page.
enum Column {
  id,
  title,
  name,
  axis,
  priority,
  min_sm,
  features,
  conflicts,
  complements,
  coupled,
  sass,
  sass_absent,
  triggers
};

double number_in(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int whole_in(std::string_view text) {
  return static_cast<int>(number_in(text));
}

/// "[a, b]" as its elements.
std::vector<std::string> list_in(std::string_view text) {
  std::vector<std::string> list;
  text = trimmed(text, "[] ");
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    list.emplace_back(trimmed(text.substr(0, comma), " "));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

/// The value of a key in "{metric: x, direction: y, good: 1, bad: 2}".
std::string_view value_of(std::string_view row, std::string_view key) {
  const auto found = row.find(key);
  if (found == std::string_view::npos) return {};
  const auto rest = row.substr(found + key.size());
  return trimmed(rest.substr(0, rest.find_first_of(",}")), " :");
}

std::vector<MethodTrigger> triggers_in(std::string_view text) {
  std::vector<MethodTrigger> rows;
  for (auto begin = text.find('{'); begin != std::string_view::npos;
       begin = text.find('{', begin + 1)) {
    const auto row = text.substr(begin, text.find('}', begin) - begin + 1);
    rows.push_back({std::string(value_of(row, "metric:")),
                    value_of(row, "direction:") == "high_is_bad", number_in(value_of(row, "good:")),
                    number_in(value_of(row, "bad:"))});
  }
  return rows;
}

Axis axis_in(std::string_view text) {
  if (text == "compute") return Axis::compute;
  return text == "memory" ? Axis::memory : Axis::latency;
}

std::vector<Method> read_pages() {
  std::vector<Method> methods;
  for (const auto& page : kMethodPages) {
    Method method;
    method.name = page[Column::name];
    method.id = std::string(page[Column::axis]) + "." + method.name;
    method.title = trimmed(page[Column::title], "\"");
    method.page = page[Column::id];
    method.axis = axis_in(page[Column::axis]);
    method.priority = whole_in(page[Column::priority]);
    method.min_sm = whole_in(page[Column::min_sm]);
    method.features = list_in(page[Column::features]);
    method.triggers = triggers_in(page[Column::triggers]);
    method.conflicts = list_in(page[Column::conflicts]);
    method.complements = list_in(page[Column::complements]);
    method.coupled = list_in(page[Column::coupled]);
    method.has_signature =
        !list_in(page[Column::sass]).empty() || !list_in(page[Column::sass_absent]).empty();
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
  return whole_in(std::string_view(contract.arch).substr(3));
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
