#include "kernels/measure/cupti/range_profiler.h"

#include <cstdint>
#include <utility>

namespace ratchet::measure {
namespace {

// Far above any schedule seen (15 passes for 47 metrics): a limit in case the profiler never
// reports completion.
constexpr int kMostPasses = 200;

std::vector<const char*> pointers(const std::vector<std::string>& names) {
  std::vector<const char*> result;
  result.reserve(names.size());
  for (const auto& name : names) result.push_back(name.c_str());
  return result;
}

ProfilerFailure failure_of(const Cupti& cupti, const char* step, CUptiResult result) {
  std::string message = std::string(step) + ": " + cupti.describe(result);
  if (result == CUPTI_ERROR_HARDWARE_BUSY)
    message += " (another profiler is using the counters: stop it, then profile again)";
  return {std::move(message), is_permission_error(result)};
}

}  // namespace

std::optional<ProfilerFailure> MetricHost::initialize(const Cupti& cupti) {
  CUpti_Profiler_Initialize_Params params{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
  if (const auto result = cupti.profiler_initialize(&params); result != CUPTI_SUCCESS)
    return failure_of(cupti, "CUPTI cannot initialize its profiler", result);
  return std::nullopt;
}

void MetricHost::warm_up() {
  const auto cupti = Cupti::load();
  if (!cupti) return;
  // Any chip will do: one library contains the tables of all chips.
  CUpti_Profiler_Host_Initialize_Params params{CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = "GA100";
  if (cupti->host_initialize(&params) != CUPTI_SUCCESS) return;
  CUpti_Profiler_Host_Deinitialize_Params done{CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
  done.pHostObject = params.pHostObject;
  cupti->host_deinitialize(&done);
}

MetricHost::MetricHost(const Cupti& cupti, const Gpu& gpu, Counters counters) : cupti_(cupti) {
  failure_ = initialize(cupti);
  if (failure_) return;
  CUpti_Device_GetChipName_Params chip{CUpti_Device_GetChipName_Params_STRUCT_SIZE};
  chip.deviceIndex = static_cast<std::size_t>(gpu.facts().index);
  if (const auto result = cupti.device_get_chip_name(&chip); result != CUPTI_SUCCESS) {
    failure_ = failure_of(cupti, "CUPTI does not know this chip", result);
    return;
  }
  chip_ = chip.pChipName;
  if (counters == Counters::of_chip || ask_driver(gpu)) open();
}

MetricHost::~MetricHost() {
  close();
}

bool MetricHost::ask_driver(const Gpu& gpu) {
  CUpti_Profiler_GetCounterAvailability_Params available{
      CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE};
  available.ctx = gpu.context();
  auto result = cupti_.profiler_get_counter_availability(&available);
  if (result == CUPTI_SUCCESS) {
    availability_.resize(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability_.data();
    result = cupti_.profiler_get_counter_availability(&available);
  }
  if (result == CUPTI_SUCCESS) return true;
  failure_ = failure_of(cupti_, "the driver does not report the available counters", result);
  return false;
}

void MetricHost::open() {
  CUpti_Profiler_Host_Initialize_Params params{CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_.c_str();
  if (!availability_.empty()) params.pCounterAvailabilityImage = availability_.data();
  if (const auto result = cupti_.host_initialize(&params); result != CUPTI_SUCCESS) {
    failure_ = failure_of(cupti_, "CUPTI does not know this chip", result);
    return;
  }
  host_ = params.pHostObject;
}

void MetricHost::close() {
  if (!host_) return;
  CUpti_Profiler_Host_Deinitialize_Params params{
      CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
  params.pHostObject = host_;
  cupti_.host_deinitialize(&params);
  host_ = nullptr;
}

bool MetricHost::named(const std::string& name) {
  CUpti_Profiler_Host_GetMetricProperties_Params params{
      CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE};
  params.pHostObject = host_;
  params.pMetricName = name.c_str();
  return cupti_.host_get_metric_properties(&params) == CUPTI_SUCCESS;
}

bool MetricHost::add(const std::vector<std::string>& names) {
  auto metric_names = pointers(names);
  CUpti_Profiler_Host_ConfigAddMetrics_Params add{
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
  add.pHostObject = host_;
  add.ppMetricNames = metric_names.data();
  add.numMetrics = metric_names.size();
  return cupti_.host_config_add_metrics(&add) == CUPTI_SUCCESS;
}

bool MetricHost::schedulable(const std::vector<std::string>& names) {
  const bool added = add(names);
  // Metrics cannot be removed from a host object, only replaced with the object.
  close();
  open();
  return added;
}

std::vector<std::string> MetricHost::known(const std::vector<std::string>& names,
                                           std::vector<std::string>& unknown) {
  std::vector<std::string> kept;
  for (const auto& name : names) (named(name) ? kept : unknown).push_back(name);
  if (kept.empty()) return kept;
  if (add(kept)) {
    scheduled_ = kept;
    return kept;
  }
  close();
  open();
  // A valid base name with an invalid suffix has properties too, but cannot be scheduled.
  std::vector<std::string> schedulable_ones;
  for (const auto& name : kept) {
    if (failure_) return {};
    (schedulable({name}) ? schedulable_ones : unknown).push_back(name);
  }
  return schedulable_ones;
}

std::vector<std::byte> MetricHost::configure(const std::vector<std::string>& names) {
  if (names != scheduled_ && !add(names)) {
    failure_ = ProfilerFailure{"these metrics cannot be counted in one schedule"};
    return {};
  }
  CUpti_Profiler_Host_GetConfigImageSize_Params size{
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
  size.pHostObject = host_;
  auto result = cupti_.host_get_config_image_size(&size);
  std::vector<std::byte> config(result == CUPTI_SUCCESS ? size.configImageSize : 0);
  CUpti_Profiler_Host_GetConfigImage_Params get{
      CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
  get.pHostObject = host_;
  get.configImageSize = config.size();
  get.pConfigImage = reinterpret_cast<std::uint8_t*>(config.data());
  if (result == CUPTI_SUCCESS) result = cupti_.host_get_config_image(&get);
  if (result == CUPTI_SUCCESS) return config;
  failure_ = failure_of(cupti_, "cannot schedule the counters", result);
  return {};
}

std::optional<std::vector<double>> MetricHost::evaluate(const std::vector<std::uint8_t>& image,
                                                        std::size_t range,
                                                        const std::vector<std::string>& names) {
  auto metric_names = pointers(names);
  std::vector<double> values(names.size());
  CUpti_Profiler_Host_EvaluateToGpuValues_Params params{
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};
  params.pHostObject = host_;
  params.pCounterDataImage = image.data();
  params.counterDataImageSize = image.size();
  params.rangeIndex = range;
  params.ppMetricNames = metric_names.data();
  params.numMetrics = metric_names.size();
  params.pMetricValues = values.data();
  if (cupti_.host_evaluate(&params) != CUPTI_SUCCESS) return std::nullopt;
  return values;
}

std::optional<ProfilerFailure> RangeProfiler::failed(const char* step, CUptiResult result) const {
  if (result == CUPTI_SUCCESS) return std::nullopt;
  return failure_of(cupti_, step, result);
}

RangeProfiler::~RangeProfiler() {
  if (!profiler_) return;
  CUpti_RangeProfiler_Disable_Params params{CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
  params.pRangeProfilerObject = profiler_;
  cupti_.range_disable(&params);
}

std::optional<ProfilerFailure> RangeProfiler::prepare(const std::vector<std::string>& names,
                                                      std::span<const std::byte> config,
                                                      std::size_t most_ranges) {
  CUpti_RangeProfiler_Enable_Params enable{CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
  enable.ctx = gpu_.context();
  if (auto no = failed("cannot enable the counters", cupti_.range_enable(&enable))) return no;
  profiler_ = enable.pRangeProfilerObject;

  auto metric_names = pointers(names);
  CUpti_RangeProfiler_GetCounterDataSize_Params size{
      CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE};
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = metric_names.data();
  size.numMetrics = metric_names.size();
  size.maxNumOfRanges = most_ranges;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most_ranges);
  if (auto no = failed("cannot size the counter data", cupti_.range_get_counter_data_size(&size)))
    return no;
  image_.assign(size.counterDataSize, 0);

  CUpti_RangeProfiler_CounterDataImage_Initialize_Params initialize{
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE};
  initialize.pRangeProfilerObject = profiler_;
  initialize.counterDataSize = image_.size();
  initialize.pCounterData = image_.data();
  if (auto no = failed("cannot initialize the counter data",
                       cupti_.range_initialize_counter_data(&initialize)))
    return no;

  CUpti_RangeProfiler_SetConfig_Params set{CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE};
  set.pRangeProfilerObject = profiler_;
  set.configSize = config.size();
  // CUPTI only reads it.
  set.pConfig = reinterpret_cast<const std::uint8_t*>(config.data());
  set.counterDataImageSize = image_.size();
  set.pCounterDataImage = image_.data();
  set.range = each_ == Ranges::kernels ? CUPTI_AutoRange : CUPTI_UserRange;
  set.replayMode = CUPTI_UserReplay;
  set.maxRangesPerPass = most_ranges;
  set.numNestingLevels = 1;
  set.minNestingLevel = 1;
  set.passIndex = 0;
  set.targetNestingLevel = 1;
  return failed("cannot configure the counters", cupti_.range_set_config(&set));
}

std::optional<ProfilerFailure> RangeProfiler::profile(const std::vector<std::string>& names,
                                                      std::span<const std::byte> config,
                                                      std::size_t most_ranges, const Pass& pass) {
  if (auto no = prepare(names, config, most_ranges)) return no;
  for (bool done = false; !done;) {
    if (++passes_ > kMostPasses) return ProfilerFailure{"the profiler requests passes without end"};
    if (!pass.before()) return ProfilerFailure{"cannot reset the caches"};
    CUpti_RangeProfiler_Start_Params start{CUpti_RangeProfiler_Start_Params_STRUCT_SIZE};
    start.pRangeProfilerObject = profiler_;
    if (auto no = failed("cannot start the counters", cupti_.range_start(&start))) return no;
    auto not_run = run(pass);
    CUpti_RangeProfiler_Stop_Params stop{CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE};
    stop.pRangeProfilerObject = profiler_;
    const auto stopped = cupti_.range_stop(&stop);
    if (not_run) return not_run;
    if (auto no = failed("cannot stop the counters", stopped)) return no;
    done = stop.isAllPassSubmitted != 0;
  }
  CUpti_RangeProfiler_DecodeData_Params decode{CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE};
  decode.pRangeProfilerObject = profiler_;
  return failed("cannot decode the counters", cupti_.range_decode_data(&decode));
}

std::optional<ProfilerFailure> RangeProfiler::run(const Pass& pass) {
  if (!pass.ready()) return ProfilerFailure{"cannot reset the caches"};
  if (each_ == Ranges::call) {
    if (cudaDeviceSynchronize() != cudaSuccess) return ProfilerFailure{"cannot reset the caches"};
    CUpti_RangeProfiler_PushRange_Params push{CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE};
    push.pRangeProfilerObject = profiler_;
    push.pRangeName = "call";
    if (auto no = failed("cannot open the range", cupti_.range_push(&push))) return no;
  }
  const bool worked = pass.work();
  if (each_ == Ranges::call) {
    CUpti_RangeProfiler_PopRange_Params pop{CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE};
    pop.pRangeProfilerObject = profiler_;
    if (auto no = failed("cannot close the range", cupti_.range_pop(&pop)); no && worked) return no;
  }
  if (!worked) return ProfilerFailure{"the call failed while it was counted"};
  return std::nullopt;
}

std::size_t RangeProfiler::ranges() const {
  CUpti_RangeProfiler_GetCounterDataInfo_Params info{
      CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE};
  info.pCounterDataImage = image_.data();
  info.counterDataImageSize = image_.size();
  if (cupti_.range_get_counter_data_info(&info) != CUPTI_SUCCESS) return 0;
  return info.numTotalRanges;
}

}  // namespace ratchet::measure
