#include <fmt/format.h>

#include "server/core/figures.h"
#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/progress.h"

namespace ratchet::render {
namespace {

const DeviceInfo* device_of(const RunState& state) {
  const auto& contract = state.contract.contract;
  for (const auto& device : state.environment.devices)
    if (device.kind == contract.device_kind && device.index == contract.device) return &device;
  return nullptr;
}

std::string clock_text(const VersionState& version) {
  if (!version.profile) return "not measured yet";
  const auto& clock = version.profile->timing.clock;
  return clock ? fmt::format("{} MHz, mean of the samples", markdown::number(clock->value))
               : "not reported by the device";
}

}  // namespace

bool on_host(const RunState& state) {
  return state.contract.contract.device_kind == DeviceKind::host;
}

std::vector<std::vector<std::string>> failed_attempts(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& attempt : state.attempts) {
    if (state.masked.contains(attempt.version)) continue;
    if (attempt.event != Event::build_failed && attempt.event != Event::check_failed &&
        attempt.event != Event::profile_invalid)
      continue;
    rows.push_back(
        {attempt.version.text(), attempt.kind, markdown::one_line(attempt.outcome), attempt.time});
  }
  return rows;
}

std::string headline_text(const RunState& state) {
  const auto headline = headline_of(state);
  return headline ? headline->text() : "no version is correct and timed";
}

std::string device_text(const RunState& state) {
  const auto& contract = state.contract.contract;
  const auto* const device = device_of(state);
  std::string text = fmt::format("{} ({}", contract.device_name, name_of(contract.device_kind));
  if (device == nullptr) return text + ")";
  text += fmt::format(", {}, driver {}", device->arch, device->driver);
  if (!device->uuid.empty()) text += ", " + device->uuid;
  return text + ")";
}

std::string tools_text(const RunState& state, const VersionState& version) {
  std::string text = "ratchet " + state.environment.ratchet_version;
  if (version.build) text += ", " + version.build->candidate.build.toolchain;
  for (const auto& tool : state.environment.tools)
    if (tool.found && (tool.name == "ncu" || tool.name == "cupti"))
      text += fmt::format(", {} {}", tool.name, tool.version);
  return text;
}

const Dims& timed_dims(const Contract& contract) {
  static const Dims kNone;
  return contract.cases.empty() ? kNone : contract.cases.front().dims;
}

std::string geometric_mean_text(const BenchmarkReport& report) {
  if (!report.geomean) return "N/A";
  return fmt::format("{} against {}", markdown::number(*report.geomean),
                     report.geomean_against.value_or("the first baseline"));
}

std::string speedup_text(const Comparison& comparison) {
  return fmt::format("{} ({} … {})", three_digits(comparison.speedup),
                     three_digits(comparison.ci_low), three_digits(comparison.ci_high));
}

std::string speedup_text(const VersionState& version, const Comparison& comparison) {
  const auto values = judged_on(version);
  return speedup_text(comparison) + (values ? fmt::format(", on {} values", *values) : "");
}

const KernelCounters* main_kernel(const Profile& profile) {
  const KernelCounters* longest = nullptr;
  double duration = -1;
  for (const auto& kernel : profile.kernels) {
    const auto found = kernel.metrics.find("gpu__time_duration.sum");
    const double own = found == kernel.metrics.end() ? 0 : found->second;
    if (own > duration) {
      longest = &kernel;
      duration = own;
    }
  }
  return longest;
}

markdown::Fields provenance(const Subject& subject) {
  const auto& [state, version, time] = subject;
  markdown::Fields fields{{"Run", state.run.text},
                          {"Version", version.id.text()},
                          {"Contract SHA-256", state.contract.contract_digest}};
  if (version.build) {
    fields.emplace_back("Source SHA-256", version.build->source_blob);
    fields.emplace_back("Binary SHA-256", version.build->candidate.build.binary_digest);
  }
  fields.emplace_back("Device", device_text(state));
  fields.emplace_back("Clock", clock_text(version));
  fields.emplace_back("Tools", tools_text(state, version));
  fields.emplace_back("Time", time);
  return fields;
}

Json provenance_json(const Subject& subject) {
  const auto& [state, version, time] = subject;
  Json json{{"run", state.run.text},
            {"version", version.id.text()},
            {"contract_sha256", state.contract.contract_digest},
            {"device", device_text(state)},
            {"clock", clock_text(version)},
            {"tools", tools_text(state, version)},
            {"time", time}};
  if (version.build) {
    json["source_sha256"] = version.build->source_blob;
    json["binary_sha256"] = version.build->candidate.build.binary_digest;
  }
  return json;
}

Rendered contract_json(const RunState& state) {
  const auto& created = state.contract;
  Json json = encode(created.contract);
  Json shown = Json::array();
  int hidden = 0;
  for (const auto& one : created.contract.cases) {
    if (one.hidden)
      ++hidden;
    else
      shown.push_back(encode(one));
  }
  json["cases"] = std::move(shown);
  json["hidden_cases"] = hidden;
  json["kernel"] = {{"file_name", created.contract.kernel.file_name},
                    {"sha256", created.kernel_blob}};
  json["reference"] = {{"file_name", created.contract.reference.file_name},
                       {"sha256", created.reference_blob}};
  json["search"] = encode(created.search);
  if (created.forked_from) json["forked_from"] = encode(*created.forked_from);
  for (const auto& one : created.suite_baselines.value_or(std::vector<SuiteBaseline>{}))
    json["suite_baselines"].push_back(encode(one));
  json["run"] = state.run.text;
  json["contract_digest"] = created.contract_digest;
  json["created"] = state.created;
  json["tools"] = tools_text(state, state.versions.front());
  json["warnings"] = encode(created.warnings);
  return {"contract.json", markdown::json_text(json, 2) + "\n"};
}

}  // namespace ratchet::render
