// The field tables of the records of runs, each instantiated here alone.

#include "server/runs/records/analysis.h"
#include "server/runs/records/axis_budget.h"
#include "server/runs/records/entry.h"
#include "server/runs/records/evidence_entry.h"
#include "server/runs/records/review_entry.h"
#include "server/runs/records/search_entry.h"
#include "server/runs/records/search_plan.h"

namespace ratchet::fields_detail {

template const FieldTable& table_of<AnalysisFact>();
template const FieldTable& table_of<AxisGaps>();
template const FieldTable& table_of<AxisBudget>();
template const FieldTable& table_of<ArtifactRef>();
template const FieldTable& table_of<Entry>();
template const FieldTable& table_of<BuildFact>();
template const FieldTable& table_of<CreatedFact>();
template const FieldTable& table_of<BenchmarkFact>();
template const FieldTable& table_of<GateFact>();
template const FieldTable& table_of<ExtendedFact>();
template const FieldTable& table_of<ReportFact>();
template const FieldTable& table_of<QueryFact>();
template const FieldTable& table_of<MetricFact>();
template const FieldTable& table_of<CitedDocument>();
template const FieldTable& table_of<EvidenceFact>();
template const FieldTable& table_of<MaskFact>();
template const FieldTable& table_of<AcceptanceFact>();
template const FieldTable& table_of<ReviewFact>();
template const FieldTable& table_of<SignatureFact>();
template const FieldTable& table_of<VariantPoint>();
template const FieldTable& table_of<DispatchRoute>();
template const FieldTable& table_of<DispatchFact>();
template const FieldTable& table_of<ChosenMethod>();
template const FieldTable& table_of<MethodsFact>();
template const FieldTable& table_of<BranchResult>();
template const FieldTable& table_of<BranchesFact>();
template const FieldTable& table_of<AblatedBuild>();
template const FieldTable& table_of<MethodAttribution>();
template const FieldTable& table_of<AblationFact>();
template const FieldTable& table_of<StopConditions>();
template const FieldTable& table_of<SearchPlan>();
template const FieldTable& table_of<ForkOrigin>();

}  // namespace ratchet::fields_detail
