#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/contract.h"

namespace ratchet {

/// What a method improves: arithmetic, data movement or waiting.
enum class Axis { compute, memory, latency };
constexpr auto enum_names(Axis) {
  using enum Axis;
  return as_written<compute, memory, latency>();
}

/// A metric that indicates a method, on a scale from `good` (nothing to gain) to `bad` (the most to
/// gain).
struct MethodTrigger {
  std::string metric;
  double good = 0;
  double bad = 0;
};

/// One optimization method: its place in the search and its requirements.
struct Method {
  std::string id;    ///< "memory.tiling_smem"
  std::string name;  ///< "tiling_smem"
  std::string title;
  std::string page;  ///< the knowledge page with the recipe
  Axis axis = Axis::compute;
  int priority = 0;                      ///< 1 comes first on its axis
  int min_sm = 0;                        ///< 0: any device
  std::vector<std::string> features;     ///< all are required; see features_of
  std::vector<MethodTrigger> triggers;   ///< any one suffices
  std::vector<std::string> conflicts;    ///< names; never in the same version
  std::vector<std::string> complements;  ///< names
  std::vector<std::string> coupled;      ///< names; only one of such a pair at a time
  bool has_signature = false;            ///< the machine code shows whether it was applied
};

/// All methods, by axis and priority. Their only source is the front matter of the knowledge base's
/// method pages, which the build embeds in the program. Thread-safe.
[[nodiscard]] const std::vector<Method>& method_registry();

/// By id or by name; null when unknown.
[[nodiscard]] const Method* find_method(std::string_view id);

/// 90 for "sm_90a"; 0 for the host and for other names.
[[nodiscard]] int sm_of(const Contract& contract);

/// The features of exactly this architecture. Higher numbers inherit nothing: sm_120 lacks features
/// of sm_90.
[[nodiscard]] std::vector<std::string_view> features_of(int sm);

/// Why a method cannot be used on this architecture: `arch_incompatible` or `feature_unavailable`;
/// empty if it can.
[[nodiscard]] std::optional<std::string_view> obstacle(const Method& method, int sm);

/// The macro that switches a method off in a kernel: ABLATE_memory_tiling_smem.
[[nodiscard]] std::string ablation_macro(const Method& method);

}  // namespace ratchet
