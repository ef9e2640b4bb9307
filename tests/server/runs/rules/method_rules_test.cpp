// The registry of methods, their strengths by a profile, and the rules of a proposal.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "server/runs/rules/method_rules.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::codes;
using samples::Workshop;

constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";

/// v1 of a run whose v0 was profiled with these counters and no measured roof.
Workshop opened(const std::map<std::string, double>& metrics, const std::string& arch = "native") {
  auto frozen = samples::contract(3);
  frozen.arch = arch;
  if (arch != "native") frozen.device_kind = DeviceKind::cuda;
  Workshop shop(frozen);
  shop.check();
  const auto granted = shop.permit(Event::profiled);
  auto profile = samples::profile(*granted.candidate, 1000);
  profile.roofline.bandwidth_fraction.reset();
  if (!metrics.empty()) profile.kernels = {{"solve", metrics}};
  REQUIRE(shop.runs().record_profile(granted, profile));
  shop.write_evidence();
  shop.write_hypothesis();
  REQUIRE(shop.gate().passed);
  return shop;
}

std::vector<Reason> refused(const Workshop& shop, const std::vector<ProposedMethod>& proposal) {
  const auto answer = shop.runs().propose_methods(shop.run, proposal);
  REQUIRE(answer);
  CHECK_FALSE(answer->accepted);
  CHECK_FALSE(samples::fs::exists(shop.out() / "v1/methods.json"));
  return answer->reasons;
}

bool has(const std::vector<Reason>& reasons, const std::string& code) {
  return std::ranges::find(reasons, code, &Reason::code) != reasons.end();
}

TEST_CASE("the registry holds 63 methods, each axis numbered from one without gaps", "[methods]") {
  std::map<Axis, int> last;
  std::set<std::string> names;
  for (const auto& method : method_registry()) {
    INFO(method.id);
    CHECK(method.priority == ++last[method.axis]);
    CHECK(names.insert(method.name).second);
    CHECK(method.id == std::string(name_of(method.axis)) + "." + method.name);
    CHECK(method.page.starts_with("method-"));
  }
  CHECK(method_registry().size() == 63);
  CHECK(last == std::map<Axis, int>{{Axis::compute, 22}, {Axis::memory, 22}, {Axis::latency, 19}});
}

TEST_CASE("pairs of the registry name methods that exist and name each other", "[methods]") {
  for (const auto& method : method_registry())
    for (const auto* names : {&method.coupled, &method.conflicts})
      for (const auto& name : *names) {
        INFO(method.id << " and " << name);
        const auto* const other = find_method(name);
        REQUIRE(other != nullptr);
        const auto& back = names == &method.coupled ? other->coupled : other->conflicts;
        CHECK(std::ranges::find(back, method.name) != back.end());
      }
}

TEST_CASE("an architecture has its own features, not those of lower numbers", "[methods]") {
  const auto& pingpong = *find_method("latency.pingpong_warpgroup_schedule");  // wgmma

  CHECK_FALSE(obstacle(pingpong, 90));
  CHECK(obstacle(pingpong, 120) == "feature_unavailable");
  CHECK(obstacle(pingpong, 80) == "arch_incompatible");
  CHECK(obstacle(*find_method("compute.tensor_core"), 0) == "arch_incompatible");
  CHECK_FALSE(obstacle(*find_method("memory.kernel_fusion"), 0));
}

TEST_CASE("methods that only a GPU has are closed on a processor", "[methods]") {
  for (const auto* name : {"cuda_graphs", "handwritten_ptx_inline", "stream_event", "bank_conflict",
                           "launch_config"}) {
    INFO(name);
    REQUIRE(find_method(name) != nullptr);
    CHECK(obstacle(*find_method(name), 0) == "feature_unavailable");
    CHECK_FALSE(obstacle(*find_method(name), 90));
  }
  for (const auto* name : {"loop_unroll", "kernel_fusion", "data_layout", "vectorized_access"})
    CHECK_FALSE(obstacle(*find_method(name), 0));
}

TEST_CASE("a trigger's strength runs from its good end to its bad end", "[methods]") {
  const MethodTrigger stall{"stall", 1, 2};
  const MethodTrigger hits{"hits", 90, 60};

  CHECK(strength_of(stall, 0.5) == 0);
  CHECK(strength_of(stall, 1.25) == 0.25);
  CHECK(strength_of(stall, 7) == 1);
  CHECK(strength_of(hits, 75) == 0.5);  // halfway between 90 and 60
}

TEST_CASE("budgets divide three methods by gaps, two at most on one axis", "[methods]") {
  const auto budget = [](std::optional<double> c, std::optional<double> m,
                         std::optional<double> l) {
    const auto b = budget_of({c, m, l}, 3, 2);
    return std::vector<int>{b.compute, b.memory, b.latency};
  };
  CHECK(budget(.85, .60, .55) == std::vector<int>{1, 1, 1});
  CHECK(budget(.95, .04, .40) == std::vector<int>{2, 0, 1});
  CHECK(budget(.05, .05, .05) == std::vector<int>{1, 1, 1});  // nothing stands out
  CHECK(budget({}, .93, {}) == std::vector<int>{0, 2, 0});    // what was not measured gets none
  CHECK(budget({}, {}, {}) == std::vector<int>{0, 0, 0});
}

TEST_CASE("the budget goes to what limits the kernel, not to what is idle", "[methods]") {
  // A softmax at 93 % of the memory's roof: arithmetic has the largest gap and nothing to gain.
  auto profile = samples::profile(samples::candidate("x"), 1000);
  profile.roofline.bandwidth_fraction = 0.93;
  profile.roofline.compute_fraction = 0.02;
  profile.bound = Bound::memory;
  profile.findings = {{"pattern-dram-bound-latency",
                       "[M] Loads wait",
                       "dram = 93",
                       0.07,
                       "q",
                       Confidence::high,
                       {"kernel_fusion"}}};
  profile.bound_evidence = "memory throughput; confidence high (rules v3)";
  const auto memory = budget_of(profile, 3, 2);
  CHECK(memory.memory == 2);
  CHECK(memory.compute == 0);

  // Recorded by rules that divided by gaps: as it was then.
  profile.bound_evidence = "memory throughput; confidence high (rules v2)";
  CHECK(budget_of(profile, 3, 2).compute == 2);
  CHECK(budget_of(profile, 3, 2).memory == 0);

  // Latency-bound, with a finding about memory accesses that promises half of the time.
  profile.bound = Bound::latency;
  profile.bound_evidence = "(rules v3)";
  profile.findings = {
      {"pattern-uncoalesced-loads", "[C]", "", 0.5, "q", Confidence::high, {"coalesced_access"}}};
  const auto latency = budget_of(profile, 3, 2);
  CHECK(latency.latency == 2);
  CHECK(latency.memory == 1);

  // Nothing was diagnosed: the gaps decide.
  profile.bound = Bound::unknown;
  profile.findings.clear();
  CHECK(budget_of(profile, 3, 2).compute == 2);
}

TEST_CASE("a kernel at its binding roof is near its peak, whatever the other gaps are",
          "[methods]") {
  auto profile = samples::profile(samples::candidate("x"), 1000);
  profile.roofline.bandwidth_fraction = 0.93;
  profile.roofline.compute_fraction = 0.02;

  CHECK(near_peak(profile));
  profile.roofline.bandwidth_fraction = 0.80;
  CHECK_FALSE(near_peak(profile));
  profile.roofline.bandwidth_fraction.reset();
  CHECK_FALSE(near_peak(profile));
}

TEST_CASE("an accepted proposal is recorded with the strength that the server computed",
          "[methods]") {
  // Tensor pipes 1 % busy: strength 1 for what wants them; 40 % of DRAM. Gaps .99 and .6: 2 and 1.
  const auto shop = opened({{kTensor, 1}, {kDram, 40}}, "sm_90a");
  const auto list = shop.runs().methods(shop.run);
  REQUIRE(list);
  REQUIRE(list->budget);
  CHECK(list->budget->compute == 2);
  CHECK(list->budget->memory == 1);
  CHECK(list->budget->latency == 0);

  const auto answer = shop.runs().propose_methods(
      shop.run,
      {{"compute.tensor_core", {}}, {"mixed_precision", {}}, {"memory.kernel_fusion", {}}});

  REQUIRE(answer);
  INFO((answer->reasons.empty() ? "" : answer->reasons.front().message));
  REQUIRE(answer->accepted);
  CHECK(answer->methods.front().strength == 1);
  CHECK(samples::text_of(*answer->artifact).find("ABLATE_compute_tensor_core") !=
        std::string::npos);
  CHECK(shop.status().methods.size() == 3);
}

TEST_CASE("a proposal of the wrong size or axis names the budget", "[methods]") {
  const auto shop = opened({{kDram, 40}});  // one gap: two methods, both of memory

  const auto few = refused(shop, {{"memory.kernel_fusion", {}}});
  CHECK(has(few, "count_differs"));
  CHECK(has(few, "axis_over_budget"));
  CHECK(few.front().message.find("budget of this profile is 2") != std::string::npos);
  CHECK(has(refused(shop, {{"latency.persistent_kernel", {}}, {"memory.kernel_fusion", {}}}),
            "axis_over_budget"));
}

TEST_CASE("unknown methods and those the device cannot run are refused", "[methods]") {
  const auto shop = opened({{kDram, 40}});

  CHECK(has(refused(shop, {{"memory.magic", {}}, {"memory.kernel_fusion", {}}}), "unknown_method"));
  const auto reasons = refused(shop, {{"memory.tma_multicast", {}}, {"memory.kernel_fusion", {}}});
  CHECK(has(reasons, "arch_incompatible"));
}

TEST_CASE("a method that the profile indicates is not skipped without a reason", "[methods]") {
  // Half of the sectors are used: coalesced_access (priority 2) is triggered and precedes
  // priority 4.
  const auto shop =
      opened({{kDram, 40}, {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 10}});
  const auto list = shop.runs().methods(shop.run);
  const auto coalesced =
      std::ranges::find(list->methods, "memory.coalesced_access", &MethodLine::id);
  REQUIRE(coalesced->strength.value_or(0) > 0);

  CHECK(has(refused(shop, {{"memory.kernel_fusion", {}}, {"memory.vectorized_access", {}}}),
            "higher_priority_open"));
  CHECK(has(refused(shop, {{"memory.kernel_fusion", {}},
                           {"memory.vectorized_access",
                            {{"memory.coalesced_access", SkipReason::no_trigger, ""}}}}),
            "skip_reason_false"));
  const auto answer = shop.runs().propose_methods(
      shop.run, {{"memory.kernel_fusion", {}},
                 {"memory.vectorized_access",
                  {{"memory.coalesced_access", SkipReason::skip_condition, "rows are gathered"}}}});
  CHECK(answer->accepted);
}

TEST_CASE("coupled methods are not chosen together", "[methods]") {
  const auto shop = opened({{kDram, 40}}, "sm_90a");

  // tma_multicast and distributed_smem are one of the ten pairs.
  CHECK(has(refused(shop, {{"memory.tma_multicast", {}}, {"memory.distributed_smem", {}}}),
            "coupled_pair"));
}

TEST_CASE("a method is chosen only once in a run", "[methods]") {
  const auto shop = opened({{kDram, 40}});
  const std::vector<ProposedMethod> proposal{{"memory.kernel_fusion", {}},
                                             {"memory.coalesced_access", {}}};
  REQUIRE(shop.runs().propose_methods(shop.run, proposal)->accepted);
  shop.finish_version(1);
  shop.write_hypothesis("unroll the loop");
  REQUIRE(shop.gate().passed);

  const auto again = shop.runs().propose_methods(shop.run, proposal);
  REQUIRE(again);
  CHECK(has(again->reasons, "already_selected"));
}

TEST_CASE("methods are proposed for an open version only", "[methods]") {
  const Workshop shop;
  const auto answer = shop.runs().propose_methods(shop.run, {});

  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::wrong_stage);
}

}  // namespace
}  // namespace ratchet
