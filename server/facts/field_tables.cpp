// The field tables of the facts, which most rooms read and write, each instantiated here alone.

#include "server/facts/benchmark.h"
#include "server/facts/build.h"
#include "server/facts/contract.h"
#include "server/facts/correctness.h"
#include "server/facts/environment.h"
#include "server/facts/hotspots.h"
#include "server/facts/imported_profile.h"
#include "server/facts/judge_rules.h"
#include "server/facts/knowledge.h"
#include "server/facts/lab_state.h"
#include "server/facts/machine_code.h"
#include "server/facts/parameters.h"
#include "server/facts/problem_import.h"
#include "server/facts/profile.h"
#include "server/facts/roofline_report.h"
#include "server/facts/sanitizer.h"
#include "server/facts/task.h"
#include "server/facts/timing.h"
#include "server/facts/value_search.h"
#include "server/facts/value_time.h"
#include "server/facts/version_diff.h"

namespace ratchet::fields_detail {

template const FieldTable& table_of<CallEnergy>();
template const FieldTable& table_of<BenchmarkRow>();
template const FieldTable& table_of<BenchmarkGain>();
template const FieldTable& table_of<BenchmarkReport>();
template const FieldTable& table_of<Reason>();
template const FieldTable& table_of<Diagnostic>();
template const FieldTable& table_of<BuildRecord>();
template const FieldTable& table_of<Candidate>();
template const FieldTable& table_of<TensorSpec>();
template const FieldTable& table_of<Parameter>();
template const FieldTable& table_of<Case>();
template const FieldTable& table_of<Work>();
template const FieldTable& table_of<Launch>();
template const FieldTable& table_of<Source>();
template const FieldTable& table_of<Contract>();
template const FieldTable& table_of<Fault>();
template const FieldTable& table_of<OutputError>();
template const FieldTable& table_of<CaseResult>();
template const FieldTable& table_of<CorrectnessReport>();
template const FieldTable& table_of<SearchedValues>();
template const FieldTable& table_of<DeviceInfo>();
template const FieldTable& table_of<ImplementationState>();
template const FieldTable& table_of<ToolState>();
template const FieldTable& table_of<CounterState>();
template const FieldTable& table_of<Environment>();
template const FieldTable& table_of<Hotspot>();
template const FieldTable& table_of<Hotspots>();
template const FieldTable& table_of<ImportedProfile>();
template const FieldTable& table_of<JudgeRules>();
template const FieldTable& table_of<QueryHit>();
template const FieldTable& table_of<QueryAnswer>();
template const FieldTable& table_of<GrepHit>();
template const FieldTable& table_of<GrepAnswer>();
template const FieldTable& table_of<LabState>();
template const FieldTable& table_of<FunctionCode>();
template const FieldTable& table_of<MethodVerdict>();
template const FieldTable& table_of<SassCheck>();
template const FieldTable& table_of<ImportedProblem>();
template const FieldTable& table_of<KernelCounters>();
template const FieldTable& table_of<DiagnosisFinding>();
template const FieldTable& table_of<Roofline>();
template const FieldTable& table_of<ReportFile>();
template const FieldTable& table_of<Profile>();
template const FieldTable& table_of<Ceiling>();
template const FieldTable& table_of<RooflineLevel>();
template const FieldTable& table_of<RooflineCompute>();
template const FieldTable& table_of<PackageBudget>();
template const FieldTable& table_of<CompatibleRoofline>();
template const FieldTable& table_of<RooflineReport>();
template const FieldTable& table_of<SanitizerFinding>();
template const FieldTable& table_of<SanitizerRun>();
template const FieldTable& table_of<SanitizerReport>();
template const FieldTable& table_of<SourceArg>();
template const FieldTable& table_of<TaskRequest>();
template const FieldTable& table_of<Timing>();
template const FieldTable& table_of<Comparison>();
template const FieldTable& table_of<ValueSearch>();
template const FieldTable& table_of<ValueTime>();
template const FieldTable& table_of<ValueRange>();
template const FieldTable& table_of<ValuePair>();
template const FieldTable& table_of<VersionDiff>();

}  // namespace ratchet::fields_detail
