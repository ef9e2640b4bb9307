#include "kernels/counters/ncu_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernels/counters/csv_rows.h"
#include "kernels/disassembly/machine_code.h"

namespace ratchet {
namespace {

constexpr std::string_view kIdColumn = "ID";
constexpr std::string_view kNameColumn = "Kernel Name";
constexpr std::size_t kMostReportedLaunches = 1024;
constexpr const char* kHowToExport =
    "Export it with: ncu --import REPORT.ncu-rep --csv --page raw --print-units base";

/// A label of the details page and its metric.
struct Label {
  std::string_view section;
  std::string_view label;
  std::string_view metric;
};

// From the section files that ncu ships; a label may occur in several sections.
constexpr std::array kLabels{
    Label{"GPU Speed Of Light Throughput", "Duration", "gpu__time_duration.sum"},
    Label{"GPU Speed Of Light Throughput", "Elapsed Cycles", "sm__cycles_elapsed.max"},
    Label{"GPU Speed Of Light Throughput", "SM Active Cycles", "sm__cycles_active.avg"},
    Label{"GPU Speed Of Light Throughput", "SM Frequency", "sm__cycles_elapsed.avg.per_second"},
    Label{"GPU Speed Of Light Throughput", "DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
    Label{"GPU Speed Of Light Throughput", "Compute (SM) Throughput",
          "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"GPU Speed Of Light Throughput", "Memory Throughput",
          "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"GPU Speed Of Light Throughput", "DRAM Throughput",
          "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"GPU Speed Of Light Throughput", "L1/TEX Cache Throughput",
          "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    Label{"GPU Speed Of Light Throughput", "L2 Cache Throughput",
          "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"Launch Statistics", "Block Size", "launch__block_size"},
    Label{"Launch Statistics", "Grid Size", "launch__grid_size"},
    Label{"Launch Statistics", "Threads", "launch__thread_count"},
    Label{"Launch Statistics", "Registers Per Thread", "launch__registers_per_thread"},
    Label{"Launch Statistics", "Static Shared Memory Per Block",
          "launch__shared_mem_per_block_static"},
    Label{"Launch Statistics", "Dynamic Shared Memory Per Block",
          "launch__shared_mem_per_block_dynamic"},
    Label{"Launch Statistics", "Shared Memory Configuration Size",
          "launch__shared_mem_config_size"},
    Label{"Launch Statistics", "Waves Per SM", "launch__waves_per_multiprocessor"},
    Label{"Occupancy", "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
    Label{"Occupancy", "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    Label{"Occupancy", "Block Limit Registers", "launch__occupancy_limit_registers"},
    Label{"Occupancy", "Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"},
    Label{"Occupancy", "Block Limit Warps", "launch__occupancy_limit_warps"},
    Label{"Occupancy", "Block Limit SM", "launch__occupancy_limit_blocks"},
    Label{"Memory Workload Analysis", "L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
    Label{"Memory Workload Analysis", "L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
    Label{"Memory Workload Analysis", "Memory Throughput", "dram__bytes.sum.per_second"},
    Label{"Scheduler Statistics", "One or More Eligible",
          "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    Label{"Scheduler Statistics", "Eligible Warps Per Scheduler",
          "smsp__warps_eligible.avg.per_cycle_active"},
    Label{"Compute Workload Analysis", "Executed Ipc Active",
          "sm__inst_executed.avg.per_cycle_active"},
    Label{"Warp State Statistics", "Avg. Active Threads Per Warp",
          "smsp__thread_inst_executed_per_inst_executed.ratio"},
    Label{"Instruction Statistics", "Executed Instructions", "smsp__inst_executed.sum"},
};

constexpr std::array<std::string_view, 6> kNoValue{"", "n/a", "nan", "no data", "(!) n/a", "inf"};
constexpr std::array<std::string_view, 6> kMachine{"device__", "c2clink__", "nvlink__",
                                                   "numa__",   "pcie__",    "profiler__"};

std::string metric_of(const std::string& section, const std::string& label) {
  for (const auto& known : kLabels)
    if (known.section == section && known.label == label) return std::string(known.metric);
  return section.empty() ? label : section + ": " + label;
}

/// "softmax<4>" from "void softmax<(int)4>(const float *, float *)", as the other engine names it.
std::string plain_name(std::string name) {
  if (name.starts_with("_Z")) return source_name(name);
  int depth = 0;
  for (std::size_t i = name.size(); name.ends_with(')') && i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] != '(' || --depth != 0) continue;
    name.resize(i);
    break;
  }
  if (name.starts_with("void ")) name.erase(0, 5);
  constexpr std::string_view kUnnamed = "<unnamed>";
  if (const auto at = name.find(kUnnamed); at != std::string::npos)
    name.replace(at, kUnnamed.size(), "(anonymous namespace)");
  constexpr std::string_view kCast = "(int)";
  for (auto at = name.find(kCast); at != std::string::npos; at = name.find(kCast, at))
    name.erase(at, kCast.size());
  return name;
}

Error damaged(std::size_t line, const std::string& what) {
  return {ErrorCode::invalid_argument, fmt::format("line {}: {}", line, what), kHowToExport};
}

/// The table, from its header on.
std::string_view table_in(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t at = 0; at < text.size();) {
    const auto line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with("\"ID\",") || line.starts_with("ID,")) return text.substr(at);
    const auto end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return {};
}

class NcuReportReader {
 public:
  explicit NcuReportReader(std::vector<CsvRow> rows) : rows_(std::move(rows)) {
    const auto& names = rows_.front().cells;
    for (std::size_t i = 0; i < names.size(); ++i) columns_.try_emplace(names[i], i);
  }

  Result<NcuReport> read() && {
    if (!columns_.contains(std::string(kNameColumn)))
      return damaged(rows_.front().line, "the table has no column \"Kernel Name\"");
    const bool details = columns_.contains("Metric Name") && columns_.contains("Metric Value");
    report_.page = details ? NcuReport::Page::details : NcuReport::Page::raw;
    if (auto read = details ? read_details() : read_raw(); !read) return read.error();
    if (report_.kernels.empty())
      return damaged(rows_.front().line, "the table has no kernel launch");
    for (const auto& name : seen_)
      if (!numbers_.contains(name))
        (texts_.contains(name) ? report_.not_numbers : report_.unavailable).push_back(name);
    return std::move(report_);
  }

 private:
  /// Rows of the details page may omit trailing empty cells.
  Status check_width(const CsvRow& row) const {
    const auto width = rows_.front().cells.size();
    const bool details = report_.page == NcuReport::Page::details;
    if (row.cells.size() == width) return {};
    if (details && row.cells.size() < width && row.cells.size() > columns_.at("Metric Value"))
      return {};
    return damaged(row.line, fmt::format("{} values under {} columns: the file is cut off or "
                                         "damaged",
                                         row.cells.size(), rows_.front().cells.size()));
  }

  [[nodiscard]] const std::string& cell(const CsvRow& row, const std::string& column) const {
    static const std::string kNone;
    const auto found = columns_.find(column);
    return found == columns_.end() || found->second >= row.cells.size() ? kNone
                                                                        : row.cells[found->second];
  }

  void take(KernelCounters& kernel, const std::string& name, const std::string& value,
            const std::string& unit) {
    seen_.insert(name);
    const auto number = ncu_number(value);
    const double in_base = number.value_or(0) * ncu_unit_factor(unit);
    if (number && std::isfinite(in_base)) {
      kernel.metrics[name] = in_base;
      numbers_.insert(name);
    } else if (std::ranges::find(kNoValue, value) == kNoValue.end()) {
      texts_.insert(name);
    }
  }

  /// Device attributes are in the same row as the launch's own values.
  static bool is_metric(const std::string& name) {
    return name.find("__") != std::string::npos &&
           std::ranges::none_of(kMachine, [&](auto unit) { return name.starts_with(unit); });
  }

  Status read_raw() {
    // The row of units has an empty ID; older versions have no unit for values without one.
    std::vector<std::string> units(rows_.front().cells.size());
    for (auto row = rows_.begin() + 1; row != rows_.end(); ++row) {
      if (auto right = check_width(*row); !right) return right;
      if (cell(*row, std::string(kIdColumn)).empty()) {
        if (row == rows_.begin() + 1) units = row->cells;
        continue;
      }
      if (report_.kernels.size() == kMostReportedLaunches) return too_many();
      KernelCounters kernel{plain_name(cell(*row, std::string(kNameColumn))), {}};
      for (const auto& [name, at] : columns_)
        if (is_metric(name)) take(kernel, name, row->cells[at], units[at]);
      report_.kernels.push_back(std::move(kernel));
    }
    return {};
  }

  Status read_details() {
    std::optional<std::string> launch;
    for (auto row = rows_.begin() + 1; row != rows_.end(); ++row) {
      if (auto right = check_width(*row); !right) return right;
      const auto& id = cell(*row, std::string(kIdColumn));
      if (!launch || *launch != id) {
        if (report_.kernels.size() == kMostReportedLaunches) return too_many();
        report_.kernels.push_back({plain_name(cell(*row, std::string(kNameColumn))), {}});
        launch = id;
      }
      const auto& label = cell(*row, "Metric Name");
      if (label.empty()) continue;  // a rule's remark
      const auto name = is_metric(label) ? label : metric_of(cell(*row, "Section Name"), label);
      take(report_.kernels.back(), name, cell(*row, "Metric Value"), cell(*row, "Metric Unit"));
    }
    return {};
  }

  static Error too_many() {
    return {ErrorCode::too_large,
            fmt::format("the report has more than {} launches", kMostReportedLaunches),
            "Export fewer of them: --kernel-name, --launch-skip, --launch-count."};
  }

  std::vector<CsvRow> rows_;
  std::map<std::string, std::size_t> columns_;
  std::set<std::string> seen_, numbers_, texts_;
  NcuReport report_;
};

}  // namespace

std::optional<double> ncu_number(std::string_view text) {
  std::string digits;
  const auto point = std::min(text.find('.'), text.size());
  std::size_t group = 0;  // digits since the last separator
  bool grouped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != ',') {
      digits += c;
      if (i < point && std::isdigit(static_cast<unsigned char>(c)) != 0) ++group;
      continue;
    }
    // Thousands are grouped in threes: ncu never prints "1,5".
    if (i > point || group == 0 || group > 3 || (grouped && group != 3)) return std::nullopt;
    grouped = true;
    group = 0;
  }
  if (grouped && group != 3) return std::nullopt;
  double value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

double ncu_unit_factor(std::string_view unit) {
  unit = unit.substr(0, unit.find('/'));
  struct Scale {
    std::string_view unit;
    double factor;
  };
  static constexpr std::array kTimes{Scale{"s", 1e9},  Scale{"second", 1e9},
                                     Scale{"ms", 1e6}, Scale{"msecond", 1e6},
                                     Scale{"us", 1e3}, Scale{"usecond", 1e3}};
  for (const auto& one : kTimes)
    if (unit == one.unit) return one.factor;
  static constexpr std::array kPrefixes{Scale{"K", 1e3}, Scale{"k", 1e3}, Scale{"M", 1e6},
                                        Scale{"G", 1e9}, Scale{"T", 1e12}};
  for (const auto base :
       {"byte", "hz", "Hz", "cycle", "inst", "sector", "request", "block", "warp", "thread"})
    for (const auto& prefix : kPrefixes)
      if (unit.starts_with(prefix.unit) && unit.substr(1) == base) return prefix.factor;
  return 1;
}

Result<NcuReport> read_ncu_csv(std::string_view text) {
  const auto table = table_in(text);
  if (table.empty())
    return invalid_argument("this is not CSV of Nsight Compute: no line begins with \"ID\"",
                            kHowToExport);
  auto rows = read_csv(table);
  if (!rows) return rows.error();
  return NcuReportReader(*std::move(rows)).read();
}

}  // namespace ratchet
