#include "tools/suite_times.h"

#include <cstddef>
#include <filesystem>

#include "server/core/fields.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostProblem = std::size_t{16} << 20U;

/// That part of problem.json.
struct SuiteBaselines {
  std::vector<SuiteBaseline> suite_baselines;

  static constexpr void fields(auto&& visit) {
    visit(required<&SuiteBaselines::suite_baselines>("", {.max_length = 8}));
  }
};

}  // namespace

std::vector<SuiteBaseline> suite_baselines_of(const Roots& roots, const Contract& contract) {
  const std::filesystem::path folder = contract.reference.folder;
  if (contract.problem.empty() || !folder.is_absolute()) return {};
  const auto file = roots.read(folder / "problem.json", kMostProblem);
  const auto problem = file ? Json::parse(file->bytes, nullptr, false) : Json();
  const auto given = problem.is_object() ? problem.find("suite_baselines") : problem.end();
  if (given == problem.end()) return {};
  auto figures = decode<SuiteBaselines>(Json{{"suite_baselines", *given}});
  return figures ? std::move(figures->suite_baselines) : std::vector<SuiteBaseline>{};
}

}  // namespace ratchet
