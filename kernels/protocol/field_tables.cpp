// The field tables of what a server and its workers say, each instantiated here alone.

#include "kernels/protocol/arena.h"
#include "kernels/protocol/counters.h"
#include "kernels/protocol/judge_requests.h"
#include "kernels/protocol/replies.h"
#include "kernels/protocol/requests.h"
#include "kernels/protocol/trial_requests.h"

namespace ratchet::fields_detail {

template const FieldTable& table_of<wire::Buffer>();
template const FieldTable& table_of<wire::ArenaLayout>();
template const FieldTable& table_of<wire::Argument>();
template const FieldTable& table_of<wire::Sampling>();
template const FieldTable& table_of<wire::Count>();
template const FieldTable& table_of<wire::LaunchRecord>();
template const FieldTable& table_of<wire::CallSpan>();
template const FieldTable& table_of<wire::PcSample>();
template const FieldTable& table_of<wire::PcSamples>();
template const FieldTable& table_of<wire::Counters>();
template const FieldTable& table_of<wire::Forge>();
template const FieldTable& table_of<wire::Tolerance>();
template const FieldTable& table_of<wire::Compare>();
template const FieldTable& table_of<wire::CompareOnDevice>();
template const FieldTable& table_of<wire::TermsOnDevice>();
template const FieldTable& table_of<wire::ForgeOnDevice>();
template const FieldTable& table_of<wire::Samples>();
template const FieldTable& table_of<wire::CeilingValue>();
template const FieldTable& table_of<wire::OutputState>();
template const FieldTable& table_of<wire::Answered>();
template const FieldTable& table_of<wire::Comparison>();
template const FieldTable& table_of<wire::Reply>();
template const FieldTable& table_of<wire::Load>();
template const FieldTable& table_of<wire::MadeInputs>();
template const FieldTable& table_of<wire::Execute>();
template const FieldTable& table_of<wire::Prepare>();
template const FieldTable& table_of<wire::TimeBlock>();
template const FieldTable& table_of<wire::Collect>();
template const FieldTable& table_of<wire::Attach>();
template const FieldTable& table_of<wire::Call>();
template const FieldTable& table_of<wire::Exercise>();
template const FieldTable& table_of<wire::MeasureCeilings>();
template const FieldTable& table_of<wire::Request>();
template const FieldTable& table_of<wire::Generate>();
template const FieldTable& table_of<wire::Uses>();
template const FieldTable& table_of<wire::Refresh>();
template const FieldTable& table_of<wire::Share>();
template const FieldTable& table_of<wire::Place>();
template const FieldTable& table_of<wire::Slice>();
template const FieldTable& table_of<wire::Changed>();
template const FieldTable& table_of<wire::Change>();
template const FieldTable& table_of<wire::Combine>();
template const FieldTable& table_of<wire::Widen>();
template const FieldTable& table_of<wire::Describe>();
template const FieldTable& table_of<wire::GenerateOnDevice>();
template const FieldTable& table_of<wire::WidenOnDevice>();
template const FieldTable& table_of<wire::DescribeOnDevice>();

}  // namespace ratchet::fields_detail
