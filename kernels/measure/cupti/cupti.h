#pragma once

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>
#include <vector>

#include "server/core/result.h"

namespace ratchet::measure {

/// The functions of CUPTI in use, loaded at run time, so that programs start, check and time where
/// CUPTI is not installed.
///
/// The library is never unloaded, because it hooks the driver. Thread rule: immutable after `load`.
struct Cupti {
  decltype(&::cuptiGetResultString) get_result_string = nullptr;

  decltype(&::cuptiActivityRegisterCallbacks) activity_register_callbacks = nullptr;
  decltype(&::cuptiActivityEnable) activity_enable = nullptr;
  decltype(&::cuptiActivityDisable) activity_disable = nullptr;
  decltype(&::cuptiActivityFlushAll) activity_flush_all = nullptr;
  decltype(&::cuptiActivityGetNextRecord) activity_get_next_record = nullptr;

  decltype(&::cuptiDeviceGetChipName) device_get_chip_name = nullptr;
  decltype(&::cuptiProfilerInitialize) profiler_initialize = nullptr;
  decltype(&::cuptiProfilerGetCounterAvailability) profiler_get_counter_availability = nullptr;

  decltype(&::cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&::cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&::cuptiProfilerHostGetMetricProperties) host_get_metric_properties = nullptr;
  decltype(&::cuptiProfilerHostConfigAddMetrics) host_config_add_metrics = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImageSize) host_get_config_image_size = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImage) host_get_config_image = nullptr;
  decltype(&::cuptiProfilerHostEvaluateToGpuValues) host_evaluate = nullptr;

  decltype(&::cuptiRangeProfilerEnable) range_enable = nullptr;
  decltype(&::cuptiRangeProfilerDisable) range_disable = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataSize) range_get_counter_data_size = nullptr;
  decltype(&::cuptiRangeProfilerCounterDataImageInitialize) range_initialize_counter_data = nullptr;
  decltype(&::cuptiRangeProfilerSetConfig) range_set_config = nullptr;
  decltype(&::cuptiRangeProfilerStart) range_start = nullptr;
  decltype(&::cuptiRangeProfilerStop) range_stop = nullptr;
  decltype(&::cuptiRangeProfilerPushRange) range_push = nullptr;
  decltype(&::cuptiRangeProfilerPopRange) range_pop = nullptr;
  decltype(&::cuptiRangeProfilerDecodeData) range_decode_data = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataInfo) range_get_counter_data_info = nullptr;

  decltype(&::cuptiPCSamplingEnable) sampling_enable = nullptr;
  decltype(&::cuptiPCSamplingDisable) sampling_disable = nullptr;
  decltype(&::cuptiPCSamplingGetNumStallReasons) sampling_get_num_stall_reasons = nullptr;
  decltype(&::cuptiPCSamplingGetStallReasons) sampling_get_stall_reasons = nullptr;
  decltype(&::cuptiPCSamplingSetConfigurationAttribute) sampling_configure = nullptr;
  decltype(&::cuptiPCSamplingStart) sampling_start = nullptr;
  decltype(&::cuptiPCSamplingStop) sampling_stop = nullptr;
  decltype(&::cuptiPCSamplingGetData) sampling_get_data = nullptr;

  /// Paths to try: the loader's search path, then CUDA_HOME, CUDA_PATH and /usr/local/cuda.
  static std::vector<std::string> places();

  /// Opens the first library that exists.
  /// Errors: `unavailable`, with the paths tried or the function that the library lacks.
  static Result<Cupti> load(const std::vector<std::string>& paths = places());

  /// "CUPTI_ERROR_…", or the number.
  [[nodiscard]] std::string describe(CUptiResult result) const;
};

/// Whether the driver denied this user access to the counters.
[[nodiscard]] bool is_permission_error(CUptiResult result);

/// How an administrator grants access to counters; the end of a message.
[[nodiscard]] std::string how_to_grant_counters();

}  // namespace ratchet::measure
