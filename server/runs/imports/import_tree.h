#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/core/result.h"
#include "server/facts/findings.h"

namespace ratchet {

enum class TreeLayout { kernel_opt_agent, cuda_kernel_optimizer, gpu_kernel_optimizer };
constexpr auto enum_names(TreeLayout) {
  using enum TreeLayout;
  return std::array{std::pair{kernel_opt_agent, "kernel-opt-agent"},
                    std::pair{cuda_kernel_optimizer, "cuda-kernel-optimizer"},
                    std::pair{gpu_kernel_optimizer, "gpu-kernel-optimizer"}};
}

/// One version of a tree that another package wrote. Claims are figures and verdicts found in its
/// files; this server did not measure them.
struct ImportedVersion {
  std::string version;
  std::optional<std::string> kernel;  ///< path below the tree
  std::optional<std::string> kernel_digest;
  std::vector<std::string> verified;  ///< what the files themselves prove
  std::vector<std::string> claimed;
  std::vector<Reason> problems;

  static constexpr void fields(auto&& visit) {
    using I = ImportedVersion;
    visit(required<&I::version>(), optional<&I::kernel>(), optional<&I::kernel_digest>(),
          required<&I::verified>(), required<&I::claimed>(), required<&I::problems>());
  }
};

struct ImportReport {
  TreeLayout layout = TreeLayout::kernel_opt_agent;
  std::vector<ImportedVersion> versions;
  std::optional<std::string> reference;
  std::optional<std::string> best;  ///< claimed
  std::vector<Reason> problems;     ///< of the whole tree
  std::string next;                 ///< how to have the kernel measured

  static constexpr void fields(auto&& visit) {
    using I = ImportReport;
    visit(required<&I::layout>(), required<&I::versions>(), optional<&I::reference>(),
          optional<&I::best>("Claimed."), required<&I::problems>(), required<&I::next>());
  }
};

/// Reads the output tree of another package's workflow and separates what can be verified from what
/// is only claimed. Writes nothing, also not to the ledger.
/// Errors: `not_found` if there is no such folder; `invalid_argument` if it has none of the three
/// layouts.
[[nodiscard]] Result<ImportReport> import_tree(const std::filesystem::path& folder);

}  // namespace ratchet
