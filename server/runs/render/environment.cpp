#include <fmt/format.h>

#include <algorithm>

#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::table;

std::string yes_no(bool value) {
  return value ? "yes" : "no";
}

const ToolState* tool_named(const Environment& environment, std::string_view name) {
  const auto found = std::ranges::find(environment.tools, name, &ToolState::name);
  return found == environment.tools.end() ? nullptr : &*found;
}

std::string found_text(const ToolState* tool) {
  if (tool == nullptr || !tool->found) return "missing";
  return tool->version.empty() ? "found" : tool->version;
}

const ImplementationState* needed(const RunState& state) {
  const auto& all = state.environment.implementations;
  const auto found =
      std::ranges::find(all, state.contract.contract.implementation, &ImplementationState::name);
  return found == all.end() ? nullptr : &*found;
}

std::string status(const RunState& state, const std::string& time) {
  const auto* const own = needed(state);
  const bool ready = own != nullptr && own->ready;
  return markdown::bullets({{"ready", yes_no(ready)},
                            {"implementation backend ready", yes_no(ready)},
                            {"checked at", time},
                            {"python", found_text(tool_named(state.environment, "python"))},
                            {"selected gpu index", std::to_string(state.contract.contract.device)},
                            {"run", state.run.text},
                            {"contract SHA-256", state.contract.contract_digest},
                            {"device", device_text(state)},
                            {"sandbox", state.environment.sandbox},
                            {"ratchet", state.environment.ratchet_version}});
}

std::string requirements(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  const auto* const own = needed(state);
  rows.push_back(
      {std::string(name_of(state.contract.contract.implementation)) + " (yes)",
       own != nullptr && own->ready ? "ok" : "missing",
       own == nullptr ? "not probed" : fmt::format("{}", fmt::join(own->missing, ", "))});
  const auto& counters = state.environment.counters;
  rows.push_back({"hardware counters (profile is degraded without)",
                  counters.permitted ? "ok" : "unavailable",
                  counters.permitted ? counters.engine : counters.how_to_grant});
  return table({"Requirement", "Status", "Detail"}, rows);
}

std::string backends(const Environment& environment) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : environment.implementations)
    rows.push_back({std::string(name_of(one.name)), yes_no(one.ready),
                    fmt::format("{}", fmt::join(one.missing, ", ")),
                    one.ready ? "ready" : "missing: see Requirements"});
  return table({"Implementation", "Ready", "Requirements", "Detail"}, rows);
}

std::string devices(const Environment& environment) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& device : environment.devices)
    rows.push_back({fmt::format("{} {}", name_of(device.kind), device.index), device.name,
                    device.arch, device.driver,
                    fmt::format("{} MiB", device.memory_bytes / (std::int64_t{1} << 20U)),
                    fmt::format("{} KiB", device.l2_bytes / 1024),
                    std::to_string(device.multiprocessors), device.uuid});
  return table({"Device", "Model", "Compute capability", "Driver", "Memory", "Last-level cache",
                "SMs or cores", "UUID"},
               rows);
}

std::string tools(const Environment& environment) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& tool : environment.tools)
    rows.push_back({tool.name, tool.found ? "found" : "missing", tool.version, tool.detail});
  return table({"Tool", "Status", "Version", "Detail"}, rows);
}

std::string errors(const RunState& state) {
  const auto* const own = needed(state);
  if (own != nullptr && own->ready) return "None.\n";
  return fmt::format("- {} is not ready\n", name_of(state.contract.contract.implementation));
}

std::string warnings(const RunState& state) {
  std::string text = markdown::reasons(state.contract.warnings, "");
  const auto& counters = state.environment.counters;
  if (!counters.permitted)
    text += fmt::format("- counters_unavailable: {}\n", markdown::one_line(counters.how_to_grant));
  return text.empty() ? "None.\n" : text;
}

}  // namespace

Rendered environment(const RunState& state, const std::string& time) {
  return {"env_check.md",
          fmt::format("# Environment Check\n\n## Status\n\n{}\n## Requirements\n\n{}\n"
                      "## Implementation Backends\n\n{}\n## GPU\n\n{}\n## Tools\n\n{}\n"
                      "## Environment variables\n\n"
                      "Not read: compilers and workers get an environment that the server sets.\n\n"
                      "## Errors\n\n{}\n## Warnings\n\n{}",
                      status(state, time), requirements(state), backends(state.environment),
                      devices(state.environment), tools(state.environment), errors(state),
                      warnings(state))};
}

}  // namespace ratchet::render
