#include "server/labs_file.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "kbs/documents/yaml.h"
#include "kernels/labs/lab_set.h"
#include "server/core/fields.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20U;
constexpr std::string_view kNumberMark = "{n}";
constexpr const char* kWayOn =
    "A file of labs is a list of entries such as {name: gpu3, command: ssh gpu3 ratchet lab}; "
    "docs/scale.md lists their fields.";

struct LabEntry {
  std::string name;
  std::string command;
  std::optional<int> count;
  std::optional<double> idle_s, start_s;
  std::vector<std::string> tags;
  std::optional<double> cost, cost_per_hour;
  std::optional<std::string> currency;

  static constexpr void fields(auto&& visit) {
    using L = LabEntry;
    constexpr double kWeek = 604800;
    visit(required<&L::name>("", {.max_length = 64}),
          required<&L::command>("", {.max_length = 4096}),
          optional<&L::count>("", {.min = 1, .max = 1000}),
          optional<&L::idle_s>("", {.min = 1, .max = kWeek}),
          optional<&L::start_s>("", {.min = 1, .max = kWeek}),
          optional<&L::tags>("", {.max_length = 32}), optional<&L::cost>("", {.min = 0}),
          optional<&L::cost_per_hour>("", {.min = 0}),
          optional<&L::currency>("", {.max_length = 16}));
  }
};

Error wrong(std::string what) {
  return invalid_argument(std::move(what), kWayOn);
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::string with_number(std::string command, int number) {
  for (auto at = command.find(kNumberMark); at != std::string::npos;
       at = command.find(kNumberMark, at))
    command.replace(at, kNumberMark.size(), std::to_string(number));
  return command;
}

/// The labs of one entry.
Result<std::vector<RemoteLabOptions>> labs_of(const kbs::YamlNode& node) {
  if (!node.is_map()) return wrong("the entry is no mapping");
  const Json json = kbs::to_json(node);
  if (json.size() != node.keys.size()) return wrong("a field is there twice");
  auto entry = decode<LabEntry>(json);
  if (!entry) return entry.error();
  if (entry->command.empty()) return wrong("command: is empty");
  if (entry->cost && entry->cost_per_hour)
    return wrong("cost, cost_per_hour: give one of the two; cost is a second's");
  const bool priced = entry->cost || entry->cost_per_hour;
  if (entry->currency && !priced) return wrong("currency: is given without cost or cost_per_hour");
  std::vector<RemoteLabOptions> labs;
  for (int number = 1; number <= entry->count.value_or(1); ++number) {
    RemoteLabOptions lab;
    lab.group = entry->name;
    lab.name = entry->count ? fmt::format("{}-{}", entry->name, number) : entry->name;
    if (!is_lab_name(lab.name) || entry->name.empty())
      return wrong(
          fmt::format("name: \"{}\" does not have 1 to 64 letters, digits, dots, dashes "
                      "and underscores",
                      lab.name));
    lab.command = entry->count ? with_number(entry->command, number) : entry->command;
    if (entry->idle_s) lab.idle = milliseconds_of(*entry->idle_s);
    if (entry->start_s) lab.start_limit = milliseconds_of(*entry->start_s);
    lab.tags = entry->tags;
    if (priced)
      lab.price = LabPrice{entry->cost.value_or(entry->cost_per_hour.value_or(0) / LabPrice::kHour),
                           entry->currency.value_or("")};
    labs.push_back(std::move(lab));
  }
  return labs;
}

}  // namespace

Result<std::vector<RemoteLabOptions>> read_labs(const std::filesystem::path& file) {
  const auto text = read_file(file, kMostFileBytes);
  if (!text) return text.error().at("--labs");
  const auto line = [&](int number) { return fmt::format("{}, line {}", file.string(), number); };
  try {
    const auto document = kbs::load_yaml(*text);
    if (!document.is_sequence()) return wrong("is no list of labs").at(file.string());
    std::vector<RemoteLabOptions> all;
    for (const auto& node : document.items) {
      auto labs = labs_of(node);
      if (!labs) {
        auto error = labs.error().at(line(node.line + 1));
        if (error.hint.empty()) error.hint = kWayOn;
        return error;
      }
      for (auto& one : *labs) all.push_back(std::move(one));
    }
    return all;
  } catch (const YAML::Exception& problem) {
    return wrong(problem.msg)
        .at(problem.mark.is_null() ? file.string() : line(problem.mark.line + 1));
  }
}

}  // namespace ratchet
