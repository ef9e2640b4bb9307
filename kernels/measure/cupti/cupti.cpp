#include "kernels/measure/cupti/cupti.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace ratchet::measure {
namespace {

Result<void*> open_library(const std::vector<std::string>& paths) {
  std::string tried;
  for (const auto& path : paths) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    tried += (tried.empty() ? "" : ", ") + path;
  }
  return unavailable(
      "CUPTI was not found; tried: " + tried,
      "Install the CUDA toolkit's CUPTI, or point CUDA_HOME or LD_LIBRARY_PATH to it.");
}

template <class Function>
Status find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function) return {};
  return unavailable(std::string("the installed CUPTI has no function ") + name,
                     "Install the CUPTI of CUDA 12.8 or newer.");
}

}  // namespace

std::vector<std::string> Cupti::places() {
  // Only the same major version: others use other record layouts.
  const std::string name = "libcupti.so." + std::to_string(CUDA_VERSION / 1000);
  std::vector<std::string> paths{name};
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root && *root) roots.emplace_back(root);
  roots.emplace_back("/usr/local/cuda");
  for (const auto& root : roots)
    for (const char* folder : {"/lib64/", "/extras/CUPTI/lib64/", "/targets/x86_64-linux/lib/",
                               "/targets/sbsa-linux/lib/"})
      paths.push_back(root + folder + name);
  return paths;
}

Result<Cupti> Cupti::load(const std::vector<std::string>& paths) {
  auto opened = open_library(paths);
  if (!opened) return opened.error();
  void* library = *opened;
  Cupti c;
  for (const auto& found : {
           find(library, "cuptiGetResultString", c.get_result_string),
           find(library, "cuptiActivityRegisterCallbacks", c.activity_register_callbacks),
           find(library, "cuptiActivityEnable", c.activity_enable),
           find(library, "cuptiActivityDisable", c.activity_disable),
           find(library, "cuptiActivityFlushAll", c.activity_flush_all),
           find(library, "cuptiActivityGetNextRecord", c.activity_get_next_record),
           find(library, "cuptiDeviceGetChipName", c.device_get_chip_name),
           find(library, "cuptiProfilerInitialize", c.profiler_initialize),
           find(library, "cuptiProfilerGetCounterAvailability",
                c.profiler_get_counter_availability),
           find(library, "cuptiProfilerHostInitialize", c.host_initialize),
           find(library, "cuptiProfilerHostDeinitialize", c.host_deinitialize),
           find(library, "cuptiProfilerHostGetMetricProperties", c.host_get_metric_properties),
           find(library, "cuptiProfilerHostConfigAddMetrics", c.host_config_add_metrics),
           find(library, "cuptiProfilerHostGetConfigImageSize", c.host_get_config_image_size),
           find(library, "cuptiProfilerHostGetConfigImage", c.host_get_config_image),
           find(library, "cuptiProfilerHostEvaluateToGpuValues", c.host_evaluate),
           find(library, "cuptiRangeProfilerEnable", c.range_enable),
           find(library, "cuptiRangeProfilerDisable", c.range_disable),
           find(library, "cuptiRangeProfilerGetCounterDataSize", c.range_get_counter_data_size),
           find(library, "cuptiRangeProfilerCounterDataImageInitialize",
                c.range_initialize_counter_data),
           find(library, "cuptiRangeProfilerSetConfig", c.range_set_config),
           find(library, "cuptiRangeProfilerStart", c.range_start),
           find(library, "cuptiRangeProfilerStop", c.range_stop),
           find(library, "cuptiRangeProfilerPushRange", c.range_push),
           find(library, "cuptiRangeProfilerPopRange", c.range_pop),
           find(library, "cuptiRangeProfilerDecodeData", c.range_decode_data),
           find(library, "cuptiRangeProfilerGetCounterDataInfo", c.range_get_counter_data_info),
           find(library, "cuptiPCSamplingEnable", c.sampling_enable),
           find(library, "cuptiPCSamplingDisable", c.sampling_disable),
           find(library, "cuptiPCSamplingGetNumStallReasons", c.sampling_get_num_stall_reasons),
           find(library, "cuptiPCSamplingGetStallReasons", c.sampling_get_stall_reasons),
           find(library, "cuptiPCSamplingSetConfigurationAttribute", c.sampling_configure),
           find(library, "cuptiPCSamplingStart", c.sampling_start),
           find(library, "cuptiPCSamplingStop", c.sampling_stop),
           find(library, "cuptiPCSamplingGetData", c.sampling_get_data),
       })
    if (!found) return found.error();
  return c;
}

std::string Cupti::describe(CUptiResult result) const {
  const char* text = nullptr;
  if (get_result_string(result, &text) == CUPTI_SUCCESS && text) return text;
  return "CUPTI error " + std::to_string(static_cast<int>(result));
}

bool is_permission_error(CUptiResult result) {
  return result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
         result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
}

std::string how_to_grant_counters() {
  return "Run as root or with CAP_SYS_ADMIN, or let all users read counters: add 'options nvidia "
         "NVreg_RestrictProfilingToAdminUsers=0' to /etc/modprobe.d/nvidia-profiling.conf and "
         "reboot.";
}

}  // namespace ratchet::measure
