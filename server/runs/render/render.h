#pragma once

// Artifacts: pure functions from a folded run to file texts. Headings and field names are those
// that existing workflows expect (kernel-opt-agent, cuda-kernel-optimizer); the server's additions
// are further rows. Nothing here reads a clock, a file or the ledger.

#include <string>
#include <vector>

#include "server/runs/ledger/run_state.h"
#include "server/runs/records/markdown.h"
#include "server/runs/records/rendered.h"

namespace ratchet::render {

/// What an artifact is about. `time` is when the facts in it were recorded.
struct Subject {
  const RunState& state;
  const VersionState& version;
  std::string time;
};

/// Run, version, digests, device, clocks, tool versions, time: rows that every artifact carries.
[[nodiscard]] markdown::Fields provenance(const Subject& subject);
[[nodiscard]] Json provenance_json(const Subject& subject);

/// Texts that many artifacts share: device, tools and the timed sizes.
[[nodiscard]] std::string device_text(const RunState& state);
[[nodiscard]] std::string tools_text(const RunState& state, const VersionState& version);
[[nodiscard]] const Dims& timed_dims(const Contract& contract);

/// Runs on the processor, so that nothing here speaks of warps, SMs or CUDA.
[[nodiscard]] bool on_host(const RunState& state);

/// What failed on the way: time, version, step and why; oldest first. For tables with the header
/// `kFailedHeader`.
[[nodiscard]] std::vector<std::vector<std::string>> failed_attempts(const RunState& state);
inline const std::vector<std::string> kFailedHeader{"Version", "Step", "Why", "Time"};

/// What the paired final benchmark says, or which comparison stands in for it.
[[nodiscard]] std::string headline_text(const RunState& state);

/// The geometric mean speedup over the workload W and its baseline; "N/A" if no baseline was
/// measured on every case.
[[nodiscard]] std::string geometric_mean_text(const BenchmarkReport& report);

/// "1.2 (1.1 … 1.3)": the speedup with its 95 % interval.
[[nodiscard]] std::string speedup_text(const Comparison& comparison);
/// The same of a version's profile: "1.2 (1.1 … 1.3), on large values", where its time depends on
/// them.
[[nodiscard]] std::string speedup_text(const VersionState& version, const Comparison& comparison);

/// The kernel that took longest (the first one if durations are unknown); null without counters.
[[nodiscard]] const KernelCounters* main_kernel(const Profile& profile);

/// `contract.json`, without the sizes of hidden cases; source texts are shown by digest only.
[[nodiscard]] Rendered contract_json(const RunState& state);
[[nodiscard]] Rendered environment(const RunState& state, const std::string& time);
[[nodiscard]] Rendered build(const Subject& subject, const BuildFact& fact);
[[nodiscard]] Rendered correctness(const Subject& subject);
/// `ncu_summary.md`, `ncu_details.md`, `bench.json`, `roofline.json`, `digest.md`.
[[nodiscard]] std::vector<Rendered> profile(const Subject& subject);
/// `digest.md`: the profile in brief, ending with the edits worth trying.
[[nodiscard]] Rendered digest(const Subject& subject);
[[nodiscard]] Rendered evidence(const Subject& subject);
[[nodiscard]] Rendered hypothesis(const Subject& subject);
[[nodiscard]] Rendered benchmark(const Subject& subject, const BenchmarkFact& fact);
[[nodiscard]] Rendered sanitizer(const Subject& subject, const SanitizerReport& report);
/// `ledgers/attempt-ledger.md`, `ledgers/optimization-ledger.md`, `ledgers/lineage.jsonl`.
[[nodiscard]] std::vector<Rendered> ledgers(const RunState& state, const std::string& time);
/// `v<K>/methods.json`.
[[nodiscard]] Rendered methods(const Subject& subject);
/// `v<K>/branches/branches.json` and a `branch.md` for each.
[[nodiscard]] std::vector<Rendered> branches(const Subject& subject);
/// `v<K>/attribution.json` and `v<K>/ablations/<method>/ablation.json`.
[[nodiscard]] std::vector<Rendered> attribution(const Subject& subject);
/// `v<K>/analysis.md`.
[[nodiscard]] Rendered analysis(const Subject& subject);
/// `benchmarks/performance-map.json` and `ledgers/tuning-decisions.md`.
[[nodiscard]] std::vector<Rendered> dispatch(const RunState& state, const std::string& time);
/// `memory/v<N>.json` of a closed version; of a masked one only the fact that it is masked.
[[nodiscard]] Rendered memory(const Subject& subject);
[[nodiscard]] Json memory_record(const RunState& state, const VersionState& version);
/// `plans/v<K+1>_plan.md`, for the version that will test the hypothesis.
[[nodiscard]] Rendered plan(const Subject& subject);
[[nodiscard]] std::string plan_path(VersionId version);
/// `ledgers/research-digest.md`.
[[nodiscard]] Rendered research_digest(const RunState& state, const std::string& time);
/// `report.html`, one self-contained page.
[[nodiscard]] Rendered page(const RunState& state, const std::string& retrospective,
                            const std::string& time);
[[nodiscard]] Rendered final_report(const RunState& state, const std::string& retrospective,
                                    const std::string& time);
[[nodiscard]] Rendered summary(const RunState& state, const std::string& retrospective,
                               const std::string& time);

}  // namespace ratchet::render
