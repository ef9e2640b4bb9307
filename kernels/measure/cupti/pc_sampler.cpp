#include "kernels/measure/cupti/pc_sampler.h"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace ratchet::measure {
namespace {

constexpr std::size_t kPcs = 4096;  // read per round; a kernel has a few thousand instructions
constexpr int kMostRounds = 1000;   // a limit in case the driver never runs out of samples
constexpr std::size_t kHardwareBuffer = std::size_t{128} << 20U;
constexpr std::uint32_t kThreadSleepMs = 1;  // the default of 100 delays the end of every call

CUpti_PCSamplingConfigurationInfo attribute(CUpti_PCSamplingConfigurationAttributeType type) {
  CUpti_PCSamplingConfigurationInfo info{};
  info.attributeType = type;
  return info;
}

}  // namespace

/// Room for records, each with room for every stall reason.
struct PcSampler::Buffer {
  explicit Buffer(std::size_t reasons) : stalls(kPcs * reasons), pcs(kPcs) {
    for (std::size_t i = 0; i < pcs.size(); ++i) {
      pcs[i].size = sizeof(CUpti_PCSamplingPCData);
      pcs[i].stallReason = &stalls[i * reasons];
    }
    data.size = sizeof data;
    data.collectNumPcs = pcs.size();
    data.pPcData = pcs.data();
  }

  std::vector<CUpti_PCSamplingStallReason> stalls;
  std::vector<CUpti_PCSamplingPCData> pcs;
  CUpti_PCSamplingData data{};
};

std::string stall_name(const std::string& cupti_name) {
  std::string_view name = cupti_name;
  constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_";
  constexpr std::string_view kStalled = "stalled_";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  if (name.starts_with(kStalled)) name.remove_prefix(kStalled.size());
  return std::string(name);
}

PcSampler::PcSampler(const Cupti& cupti, const Gpu& gpu) : cupti_(cupti), gpu_(gpu) {}

PcSampler::~PcSampler() {
  if (!enabled_) return;
  CUpti_PCSamplingDisableParams params{};
  params.size = CUpti_PCSamplingDisableParamsSize;
  params.ctx = gpu_.context();
  cupti_.sampling_disable(&params);
}

std::optional<ProfilerFailure> PcSampler::failed(const char* step, CUptiResult result) const {
  if (result == CUPTI_SUCCESS) return std::nullopt;
  return ProfilerFailure{std::string(step) + ": " + cupti_.describe(result),
                         is_permission_error(result)};
}

std::optional<ProfilerFailure> PcSampler::open(unsigned period_log2) {
  CUpti_PCSamplingEnableParams enable{};
  enable.size = CUpti_PCSamplingEnableParamsSize;
  enable.ctx = gpu_.context();
  if (auto no = failed("cannot enable PC sampling", cupti_.sampling_enable(&enable))) return no;
  enabled_ = true;
  if (auto no = name_reasons()) return no;
  samples_.period_cycles = static_cast<double>(std::uint64_t{1} << period_log2);
  return configure(period_log2);
}

std::optional<ProfilerFailure> PcSampler::name_reasons() {
  std::size_t count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams counted{};
  counted.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  counted.ctx = gpu_.context();
  counted.numStallReasons = &count;
  if (auto no =
          failed("cannot count the stall reasons", cupti_.sampling_get_num_stall_reasons(&counted)))
    return no;
  std::vector<std::uint32_t> indexes(count);
  std::vector<std::array<char, CUPTI_STALL_REASON_STRING_SIZE>> texts(count);
  std::vector<char*> names;
  for (auto& text : texts) names.push_back(text.data());
  CUpti_PCSamplingGetStallReasonsParams named{};
  named.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  named.ctx = gpu_.context();
  named.numStallReasons = count;
  named.stallReasonIndex = indexes.data();
  named.stallReasons = names.data();
  if (auto no = failed("cannot list the stall reasons", cupti_.sampling_get_stall_reasons(&named)))
    return no;
  for (std::size_t i = 0; i < count; ++i) reasons_[indexes[i]] = stall_name(names[i]);
  return std::nullopt;
}

std::optional<ProfilerFailure> PcSampler::configure(unsigned period_log2) {
  configured_ = std::make_unique<Buffer>(reasons_.size());
  std::array settings{
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN)};
  settings[0].attributeData.collectionModeData.collectionMode =
      CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  settings[1].attributeData.samplingPeriodData.samplingPeriod = period_log2;
  settings[2].attributeData.hardwareBufferSizeData.hardwareBufferSize = kHardwareBuffer;
  settings[3].attributeData.enableStartStopControlData.enableStartStopControl = 1;
  settings[4].attributeData.outputDataFormatData.outputDataFormat =
      CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED;
  settings[5].attributeData.samplingDataBufferData.samplingDataBuffer = &configured_->data;
  settings[6].attributeData.workerThreadPeriodicSleepSpanData.workerThreadPeriodicSleepSpan =
      kThreadSleepMs;
  CUpti_PCSamplingConfigurationInfoParams params{};
  params.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  params.ctx = gpu_.context();
  params.numAttributes = settings.size();
  params.pPCSamplingConfigurationInfo = settings.data();
  return failed("cannot configure PC sampling", cupti_.sampling_configure(&params));
}

std::optional<ProfilerFailure> PcSampler::sample(const std::function<bool()>& work) {
  CUpti_PCSamplingStartParams start{};
  start.size = CUpti_PCSamplingStartParamsSize;
  start.ctx = gpu_.context();
  if (auto no = failed("cannot start PC sampling", cupti_.sampling_start(&start))) return no;
  const bool worked = work();
  CUpti_PCSamplingStopParams stop{};
  stop.size = CUpti_PCSamplingStopParamsSize;
  stop.ctx = gpu_.context();
  const auto stopped = cupti_.sampling_stop(&stop);
  if (!worked) return ProfilerFailure{"the call failed while it was sampled"};
  if (auto no = failed("cannot stop PC sampling", stopped)) return no;
  return collect();
}

std::optional<ProfilerFailure> PcSampler::collect() {
  Buffer buffer(reasons_.size());
  for (int round = 0; round < kMostRounds; ++round) {
    CUpti_PCSamplingGetDataParams params{};
    params.size = CUpti_PCSamplingGetDataParamsSize;
    params.ctx = gpu_.context();
    params.pcSamplingData = &buffer.data;
    if (auto no = failed("cannot read the PC samples", cupti_.sampling_get_data(&params)))
      return no;
    samples_.total += buffer.data.totalSamples;
    samples_.dropped += buffer.data.droppedSamples;
    for (std::size_t i = 0; i < buffer.data.totalNumPcs && i < buffer.pcs.size(); ++i) {
      const auto& record = buffer.pcs[i];
      SampledPc pc{record.functionName ? record.functionName : "", record.pcOffset, {}};
      for (std::size_t r = 0; r < record.stallReasonCount; ++r)
        if (const auto& stall = record.stallReason[r]; stall.samples > 0)
          pc.reasons[reasons_[stall.pcSamplingStallReasonIndex]] += stall.samples;
      samples_.pcs.push_back(std::move(pc));
    }
    if (buffer.data.remainingNumPcs == 0) return std::nullopt;
  }
  return ProfilerFailure{"the driver returns PC samples without end"};
}

}  // namespace ratchet::measure
