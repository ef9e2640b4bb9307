#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/contract.h"

namespace ratchet {

/// What a method works on: arithmetic, data movement, or waiting.
enum class Axis { compute, memory, latency };
constexpr auto enum_names(Axis) {
  return std::array{std::pair{Axis::compute, "compute"}, std::pair{Axis::memory, "memory"},
                    std::pair{Axis::latency, "latency"}};
}

/// A reading of the profile that speaks for a method: from `good` (it has nothing to gain) to `bad`
/// (it has everything to gain).
struct MethodTrigger {
  std::string metric;
  bool high_is_bad = true;
  double good = 0;
  double bad = 0;
};

/// One optimisation method: its place in the search and what it needs.
struct Method {
  std::string id;    ///< "memory.tiling_smem"
  std::string name;  ///< "tiling_smem"
  std::string title;
  std::string page;  ///< the knowledge page with the recipe
  Axis axis = Axis::compute;
  int priority = 0;                      ///< 1 comes first on its axis
  int min_sm = 0;                        ///< 0: any device
  std::vector<std::string> features;     ///< all of them, see features_of
  std::vector<MethodTrigger> triggers;   ///< any of them
  std::vector<std::string> conflicts;    ///< names; never in one version
  std::vector<std::string> complements;  ///< names
  std::vector<std::string> coupled;      ///< names; of such a pair only one at a time
  bool has_signature = false;            ///< machine code shows whether it is there
};

/// All methods, by axis and priority. The pages of the knowledge base are the only source: the
/// build carries their front matter into the program. Thread-safe.
[[nodiscard]] const std::vector<Method>& method_registry();

/// By id or by name; null when unknown.
[[nodiscard]] const Method* find_method(std::string_view id);

/// The number in "sm_90a"; 0 for the host and for what is no such name.
[[nodiscard]] int sm_of(const Contract& contract);

/// What exactly this architecture offers; nothing is inherited by number, because sm_120 lacks what
/// sm_90 has.
[[nodiscard]] std::vector<std::string_view> features_of(int sm);

/// Why a method cannot be used there: `arch_incompatible` or `feature_unavailable`; empty: it can.
[[nodiscard]] std::optional<std::string_view> obstacle(const Method& method, int sm);

/// The macro that switches a method off in a kernel: ABLATE_memory_tiling_smem.
[[nodiscard]] std::string ablation_macro(const Method& method);

}  // namespace ratchet
