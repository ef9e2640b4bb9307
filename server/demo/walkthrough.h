#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"

namespace ratchet::demo {

/// The text that an agent would write for one version: its queries to the knowledge base and its
/// hypothesis for the next version. It contains no measured numbers.
struct Step {
  std::string kernel_query;
  std::string bottleneck_query;
  std::string applies_because;
  std::string decision_link;
  std::optional<Json> hypothesis;  ///< arguments of write_hypothesis, without run and evidence
  std::optional<std::string> next_file;  ///< source of the next version, in the problem's folder

  static constexpr void fields(auto&& visit) {
    using S = Step;
    visit(required<&S::kernel_query>(), required<&S::bottleneck_query>(),
          required<&S::applies_because>(), required<&S::decision_link>(),
          optional<&S::hypothesis>(), optional<&S::next_file>());
  }
};

/// The steps of one implementation from a problem's walkthrough.json; one per version.
[[nodiscard]] Result<std::vector<Step>> load_walkthrough(const std::filesystem::path& problem_dir,
                                                         const std::string& implementation);

}  // namespace ratchet::demo
