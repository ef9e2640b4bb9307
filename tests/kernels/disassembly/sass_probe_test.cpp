// The signatures against nvcc's code for the wiki's own recipes, each with its method and ablated.
// Needs nvcc and a disassembler, and takes half a minute per architecture.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "kernels/disassembly/disassembler.h"
#include "kernels/disassembly/machine_code.h"
#include "kernels/disassembly/sass_check.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
namespace fs = std::filesystem;

namespace {

struct Recipe {
  std::string method;
  std::string code;
};

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  if (from == std::string::npos) return "";
  const auto at = from + begin.size();
  return text.substr(at, text.find(end, at) - at);
}

/// The CUDA recipes that the wiki gives for an architecture ("sm90").
std::vector<Recipe> recipes_for(const std::string& architecture) {
  std::vector<Recipe> recipes;
  for (const auto& page : fs::directory_iterator(test::source_dir() / "kbs/content/docs/methods")) {
    const auto text = read_file(page.path()).value_or("");
    const auto method = between(text, "\nmethod_id: ", "\n");
    const auto code = between(text.substr(std::min(text.find("## Recipe: CUDA C++"), text.size())),
                              "```cuda\n", "```");
    const bool fits =
        between(text, "\narchitectures: [", "]").find(architecture) != std::string::npos;
    // Its mma with scales is for sm120; sm100 scales in other instructions.
    const bool other = method == "block_scaled_precision" && architecture == "sm100";
    if (fits && !other && !code.empty()) recipes.push_back({method, code});
  }
  return recipes;
}

/// All recipes as one source, each in its own namespace; the macros that ablate them are added to
/// `macros`.
std::string joined(const std::vector<Recipe>& recipes, std::string& macros) {
  std::string includes, bodies;
  std::set<std::string> names;
  const std::regex macro("ABLATE_\\w+");
  for (const auto& [method, code] : recipes) {
    std::istringstream lines(code);
    bodies += "namespace probe_" + method + " {\n";
    for (std::string line; std::getline(lines, line);)
      (line.starts_with("#include") ? includes : bodies) += line + "\n";
    bodies += "}\n";
    for (std::sregex_iterator at(code.begin(), code.end(), macro), end; at != end; ++at)
      names.insert(at->str());
  }
  for (const auto& name : names) macros += "#define " + name + "\n";
  return includes + bodies;
}

std::map<std::string, OpcodeCounts> compiled(const fs::path& source, const std::string& sm,
                                             const fs::path& macros, const Toolchain& toolchain,
                                             const fs::path& folder) {
  ProcessSpec spec;
  const auto cubin = folder / "probe.cubin";
  spec.argv = {
      toolchain.nvcc->path.string(), "-cubin", "-arch=" + sm,  "-O3",          "-std=c++17",
      "--expt-relaxed-constexpr",    "-o",     cubin.string(), source.string()};
  if (!macros.empty()) spec.argv.insert(spec.argv.end() - 1, {"-include", macros.string()});
  spec.environment = inherited_environment({"PATH", "HOME"});
  const auto run = run_program(spec, std::chrono::minutes(5));
  REQUIRE(run);
  INFO(run->err.substr(0, 2000));
  REQUIRE(run->status.clean());
  const std::array cubins{cubin};
  const auto listing = sass_of_cubins(cubins, toolchain, {});
  if (!listing) FAIL(listing.error().message);
  std::map<std::string, std::vector<CodeFunction>> functions;
  for (auto& function : read_code(listing->text, CodeKind::sass)) {
    const auto name = source_name(function.name);
    functions[between(name, "probe_", "::")].push_back(std::move(function));
  }
  std::map<std::string, OpcodeCounts> counts;
  for (const auto& [method, code] : functions) counts.emplace(method, OpcodeCounts(code));
  return counts;
}

/// Other methods that a recipe also changes: its code rightly shows those too.
const std::map<std::string, std::set<std::string>>& companions() {
  static const std::map<std::string, std::set<std::string>> table{
      {"asymmetric_mbarrier_sync", {"reduce_sync_count"}},
      // On sm_80 the library's barrier is made of shared atomics, which the compiler aggregates.
      {"async_pipeline",
       {"multi_stage_pipeline", "reduce_sync_count", "warp_shuffle_sync",
        "warp_aggregated_atomics"}},
      {"cluster_launch_control_scheduler", {"vectorized_access", "asymmetric_mbarrier_sync"}},
      {"coalesced_access", {"reduction", "warp_shuffle"}},
      {"cooperative_cluster", {"warp_aggregated_atomics"}},
      {"distributed_smem", {"cooperative_cluster"}},
      {"kernel_fusion", {"vectorized_access"}},
      {"multi_stage_pipeline", {"async_pipeline"}},
      {"pingpong_warpgroup_schedule", {"asymmetric_mbarrier_sync"}},
      {"producer_regdealloc_setmaxnreg", {"warp_specialization"}},
      {"reduce_sync_count", {"warp_shuffle_sync"}},
      {"reduction", {"warp_shuffle", "reduce_sync_count", "warp_shuffle_sync"}},
      {"smem_register_spilling", {"register_pressure"}},
      {"warp_aggregated_atomics", {"reduction"}},
      {"warp_shuffle", {"reduce_sync_count", "warp_shuffle_sync"}},
      {"warp_shuffle_sync", {"reduce_sync_count"}}};
  return table;
}

/// Counts the methods verified on their own probe; fails on any false verdict.
int judge(const std::map<std::string, OpcodeCounts>& with,
          const std::map<std::string, OpcodeCounts>& without) {
  int verified = 0;
  for (const auto& [method, code] : with) {
    INFO(method);
    const auto& signature = *signature_of(method);
    const auto& ablated = without.at(method);
    const auto own = verdict_of(signature, code, &ablated).verdict;
    CHECK(own != CodeVerdict::absent);
    CHECK(verdict_of(signature, code, nullptr).verdict != CodeVerdict::absent);
    CHECK(verdict_of(signature, ablated, &code).verdict != CodeVerdict::verified);
    CHECK(verdict_of(signature, code, &code).verdict != CodeVerdict::verified);
    verified += own == CodeVerdict::verified ? 1 : 0;
    const auto known = companions().find(method);
    for (const auto& other : method_signatures()) {
      if (other.id == method || verdict_of(other, code, &ablated).verdict != CodeVerdict::verified)
        continue;
      INFO("also verified: " << other.id);
      CHECK((known != companions().end() && known->second.contains(std::string(other.id))));
    }
  }
  return verified;
}

struct Probes {
  Toolchain toolchain = find_toolchain(probe_python());
  test::TempFolder folder;

  /// The environment that ./dev sets up for tests has Triton, which brings a disassembler.
  static std::string probe_python() {
    const auto own = test::build_dir() / "python/bin/python";
    return fs::exists(own) ? own.string() : "python3";
  }
  [[nodiscard]] bool ready() const {
    return toolchain.nvcc && (toolchain.nvdisasm || toolchain.cuobjdump);
  }
};

}  // namespace

TEST_CASE("no signature calls a recipe's method absent, nor its ablation verified",
          "[sass][slow]") {
  Probes probes;
  if (!probes.ready()) SKIP("needs nvcc and nvdisasm (of the toolkit or of Triton)");
  // Least methods that must be verified on their probes; the others have no opcode of their own.
  const auto [sm, architecture, least] =
      GENERATE(table<std::string, std::string, int>({{"sm_80", "sm80", 24},
                                                     {"sm_86", "sm86", 24},
                                                     {"sm_89", "sm89", 24},
                                                     {"sm_90a", "sm90", 32},
                                                     {"sm_100a", "sm100", 31},
                                                     {"sm_120a", "sm120", 30}}));
  INFO(sm);
  std::string macros;
  const auto source = probes.folder / "probe.cu", ablate = probes.folder / "ablate.h";
  std::ofstream(source) << joined(recipes_for(architecture), macros);
  std::ofstream(ablate) << macros;

  const auto with = compiled(source, sm, "", probes.toolchain, probes.folder.path());
  const auto without = compiled(source, sm, ablate, probes.toolchain, probes.folder.path());
  CHECK(judge(with, without) >= least);
}

TEST_CASE("methods without a recipe are detected in separate probes", "[sass][slow]") {
  Probes probes;
  if (!probes.ready()) SKIP("needs nvcc and nvdisasm (of the toolkit or of Triton)");
  const auto source = test::source_dir() / "tests/kernels/probes/warpgroup.cu";
  const auto ablate = probes.folder / "ablate.h";
  std::string macros;
  (void)joined({{"all", read_file(source).value_or("")}}, macros);
  std::ofstream(ablate) << macros;

  const auto with = compiled(source, "sm_90a", "", probes.toolchain, probes.folder.path());
  const auto without = compiled(source, "sm_90a", ablate, probes.toolchain, probes.folder.path());
  CHECK(judge(with, without) == 4);
}
