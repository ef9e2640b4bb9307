#include "kernels/measure/abi.h"

#include <memory>
#include <string>

#include "kernels/measure/counters.h"
#include "kernels/measure/timer.h"

struct ratchet_gpu {
  std::unique_ptr<ratchet::measure::Gpu> gpu;
  std::unique_ptr<ratchet::measure::Timer> timer;
  std::unique_ptr<ratchet::measure::Counters> counters;
  ratchet::Error open_error;
  std::string answer;
};

namespace {

using ratchet::Error;
using ratchet::Json;
using ratchet::Result;
using namespace ratchet::measure;  // NOLINT: this file is that namespace's other face

const char* answer(ratchet_gpu* handle, const Json& json) {
  handle->answer = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return handle->answer.c_str();
}

const char* answer(ratchet_gpu* handle, const Error& error) {
  return answer(handle, Json{{"error", {{"message", error.message}, {"hint", error.hint}}}});
}

Json json_of(const Launch& launch) {
  return {{"kernel", launch.kernel},
          {"start_ns", launch.start_ns},
          {"end_ns", launch.end_ns},
          {"grid", launch.grid},
          {"block", launch.block},
          {"registers", launch.registers},
          {"static_shared_bytes", launch.static_shared_bytes},
          {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
          {"stream", launch.stream}};
}

Json json_of(const std::vector<Launch>& launches) {
  Json array = Json::array();
  for (const auto& launch : launches) array.push_back(json_of(launch));
  return array;
}

Json json_of(const CounterReport& report) {
  Json kernels = Json::array();
  for (const auto& kernel : report.kernels)
    kernels.push_back({{"name", kernel.kernel}, {"metrics", kernel.metrics}});
  Json json{{"kernels", std::move(kernels)},
            {"launches", json_of(report.launches)},
            {"unknown_metrics", report.unknown_metrics},
            {"engine", report.engine},
            {"cache", report.cache}};
  if (report.together) json["together"] = *report.together;
  if (report.unavailable) json["unavailable"] = *report.unavailable;
  if (report.failure) json["failure"] = *report.failure;
  return json;
}

Result<TimingPlan> plan_of(const char* text) {
  const auto json = Json::parse(text ? text : "{}", nullptr, false);
  if (json.is_discarded())
    return Error{ratchet::ErrorCode::invalid_argument, "plan: is not JSON", ""};
  return ratchet::decode<TimingPlan>(json, ratchet::Place{"plan"});
}

Result<Timer*> timer_of(ratchet_gpu* handle) {
  if (!handle->gpu) return handle->open_error;
  if (!handle->timer) {
    auto timer = Timer::create(*handle->gpu);
    if (!timer) return timer.error();
    handle->timer = *std::move(timer);
  }
  return handle->timer.get();
}

Result<Counters*> counters_of(ratchet_gpu* handle) {
  if (!handle->gpu) return handle->open_error;
  if (!handle->counters) {
    auto counters = Counters::create(*handle->gpu);
    if (!counters) return counters.error();
    handle->counters = *std::move(counters);
  }
  return handle->counters.get();
}

}  // namespace

ratchet_gpu* ratchet_gpu_open(int device) {
  auto handle = std::make_unique<ratchet_gpu>();
  auto gpu = Gpu::open(device);
  if (gpu)
    handle->gpu = *std::move(gpu);
  else
    handle->open_error = gpu.error();
  return handle.release();
}

void ratchet_gpu_close(ratchet_gpu* gpu) {
  delete gpu;
}

const char* ratchet_gpu_facts(ratchet_gpu* gpu) {
  if (!gpu->gpu) return answer(gpu, gpu->open_error);
  return answer(gpu, ratchet::encode(gpu->gpu->facts()));
}

const char* ratchet_gpu_time(ratchet_gpu* gpu, ratchet_call call, void* const* users, int count,
                             const char* plan) {
  auto timer = timer_of(gpu);
  if (!timer) return answer(gpu, timer.error());
  auto decoded = plan_of(plan);
  if (!decoded) return answer(gpu, decoded.error());
  std::vector<Turn> rotation;
  for (int i = 0; i < count; ++i)
    rotation.push_back({[call, user = users[i]] { call(user); }, {}, {}});
  auto sampled = (*timer)->time(rotation, *decoded);
  if (!sampled) return answer(gpu, sampled.error());
  return answer(gpu, ratchet::encode(*sampled));
}

const char* ratchet_gpu_spans(ratchet_gpu* gpu, ratchet_call call, void* user) {
  auto counters = counters_of(gpu);
  if (!counters) return answer(gpu, counters.error());
  auto observed = (*counters)->observe_cold({[call, user] { call(user); }, {}, {}});
  if (!observed) return answer(gpu, observed.error());
  Json json{{"launches", json_of(observed->launches)}};
  if (observed->failure) json["failure"] = *observed->failure;
  return answer(gpu, json);
}

const char* ratchet_gpu_count(ratchet_gpu* gpu, ratchet_call call, void* user,
                              const char* const* metrics, int count) {
  auto counters = counters_of(gpu);
  if (!counters) return answer(gpu, counters.error());
  const std::vector<std::string> names(metrics, metrics + count);
  auto report = (*counters)->count({[call, user] { call(user); }, {}, {}}, names);
  if (!report) return answer(gpu, report.error());
  return answer(gpu, json_of(*report));
}
