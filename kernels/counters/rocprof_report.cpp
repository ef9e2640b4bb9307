#include "kernels/counters/rocprof_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/counters/csv_rows.h"
#include "kernels/counters/ncu_report.h"
#include "server/core/bounded_json.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostDispatches = 1024;
constexpr const char* kRocprofHint =
    "Give rocprofv3's kernel_trace.csv, counter_collection.csv, results.json or results.db, or a "
    "CSV table of rocprof-compute.";

Error damaged_rocprof(const std::string& what) {
  return invalid_argument(what, kRocprofHint);
}

Error too_many_dispatches() {
  return {ErrorCode::too_large,
          fmt::format("the report has more than {} dispatches", kMostDispatches),
          "Profile fewer of them: --kernel-include-regex, --kernel-iteration-range."};
}

std::string_view first_line(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text.substr(0, text.find('\n'));
}

bool is_rocprof_json(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return start != std::string_view::npos && text[start] == '{' &&
         text.find("\"rocprofiler-sdk-tool\"") != std::string_view::npos;
}

// --------------------------------------------------------------------------------------------- CSV

/// Columns that describe a dispatch and are no counters, in lower case; the second name is that of
/// the metric they become.
struct Column {
  std::string_view name;
  std::string_view metric;
};
constexpr std::array kColumns{
    Column{"kind", ""},
    Column{"guid", ""},
    Column{"agent_id", ""},
    Column{"gpu_id", ""},
    Column{"queue_id", ""},
    Column{"stream_id", ""},
    Column{"thread_id", ""},
    Column{"process_id", ""},
    Column{"pid", ""},
    Column{"tid", ""},
    Column{"dispatch_id", ""},
    Column{"kernel_id", ""},
    Column{"kernel_name", ""},
    Column{"correlation_id", ""},
    Column{"node", ""},
    Column{"start_timestamp", "start"},
    Column{"end_timestamp", "end"},
    Column{"lds_block_size", "lds_bytes"},
    Column{"lds_per_workgroup", "lds_bytes"},
    Column{"group_segment_size", "lds_bytes"},
    Column{"scratch_size", "scratch_bytes"},
    Column{"scratch_per_workitem", "scratch_bytes"},
    Column{"private_segment_size", "scratch_bytes"},
    Column{"vgpr_count", "vgprs"},
    Column{"arch_vgpr", "vgprs"},
    Column{"accum_vgpr_count", "accum_vgprs"},
    Column{"accum_vgpr", "accum_vgprs"},
    Column{"sgpr_count", "sgprs"},
    Column{"sgpr", "sgprs"},
    Column{"wave_size", "wave_size"},
    Column{"workgroup_size", "workgroup"},
    Column{"workgroup_size_x", "workgroup_x"},
    Column{"workgroup_size_y", "workgroup_y"},
    Column{"workgroup_size_z", "workgroup_z"},
    Column{"grid_size", "grid"},
    Column{"grid_size_x", "grid_x"},
    Column{"grid_size_y", "grid_y"},
    Column{"grid_size_z", "grid_z"},
    Column{"counter_name", ""},
    Column{"counter_value", ""},
};

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

class RocprofTable {
 public:
  explicit RocprofTable(std::vector<CsvRow> rows) : rows_(std::move(rows)) {
    for (std::size_t i = 0; i < rows_.front().cells.size(); ++i)
      columns_.try_emplace(lower(rows_.front().cells[i]), i);
  }

  Result<RocprofReport> read() && {
    if (columns_.contains("metric")) return averages();
    const bool is_long = columns_.contains("counter_name") && columns_.contains("counter_value");
    // Both have ids of correlations; rocprof-compute renames those of the agents.
    report_.format =
        is_long || !columns_.contains("gpu_id") ? "rocprofv3_csv" : "rocprof_compute_csv";
    for (auto row = rows_.begin() + 1; row != rows_.end(); ++row)
      if (auto taken = take(*row, is_long); !taken) return taken.error();
    if (report_.kernels.empty()) return damaged_rocprof("the table has no dispatch");
    return finish();
  }

 private:
  [[nodiscard]] std::string cell(const CsvRow& row, const std::string& column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() ? std::string() : row.cells[found->second];
  }

  [[nodiscard]] Status check_width(const CsvRow& row) const {
    if (row.cells.size() == rows_.front().cells.size()) return {};
    return damaged_rocprof(
        fmt::format("line {}: {} values under {} columns: the file is cut off or damaged", row.line,
                    row.cells.size(), rows_.front().cells.size()));
  }

  /// A name that no row of this report had a number for is unavailable.
  void note(KernelCounters& kernel, const std::string& name, const std::string& text,
            bool adds = false) {
    const auto value = ncu_number(text);
    (value ? numbers_ : without_).insert(name);
    if (!value) return;
    // Instances of one counter, as of the channels of a cache, are rows of their own.
    if (adds)
      kernel.metrics[name] += *value;
    else
      kernel.metrics[name] = *value;
  }

  Status take(const CsvRow& row, bool is_long) {
    if (auto right = check_width(row); !right) return right;
    const auto name = cell(row, "kernel_name");
    if (name.empty()) return damaged_rocprof(fmt::format("line {}: no kernel name", row.line));
    // Processes, of which one file may have several, count their dispatches alone.
    auto id = cell(row, "dispatch_id");
    if (!id.empty()) id = cell(row, "guid") + " " + cell(row, "process_id") + " " + id;
    const auto known = id.empty() ? dispatches_.end() : dispatches_.find(id);
    const bool is_new = known == dispatches_.end();
    if (is_new) {
      if (report_.kernels.size() == kMostDispatches) return too_many_dispatches();
      if (!id.empty()) dispatches_[id] = report_.kernels.size();
      report_.kernels.push_back({plain_kernel_name(name), {}});
    }
    auto& kernel = is_new ? report_.kernels.back() : report_.kernels[known->second];
    for (const auto& [column, at] : columns_) {
      const auto* const fixed = std::ranges::find(kColumns, column, &Column::name);
      if (fixed == kColumns.end() && !is_long)
        note(kernel, rows_.front().cells[at], row.cells[at]);
      else if (fixed != kColumns.end() && !fixed->metric.empty() && is_new)
        note(kernel, std::string(fixed->metric), row.cells[at]);
    }
    if (is_long) note(kernel, cell(row, "counter_name"), cell(row, "counter_value"), true);
    return {};
  }

  /// rocprof-compute's analysis: a metric per row, over all dispatches that it chose.
  Result<RocprofReport> averages() {
    report_.format = "rocprof_compute_csv";
    const auto value_column = columns_.contains("avg") ? "avg" : "value";
    if (!columns_.contains(value_column))
      return damaged_rocprof("the table has a column Metric, but neither Avg nor Value");
    const auto share_column = columns_.contains("pct of peak") ? "pct of peak" : "pop";
    report_.kernels.push_back({"all dispatches", {}});
    auto& kernel = report_.kernels.back();
    for (auto row = rows_.begin() + 1; row != rows_.end(); ++row) {
      if (auto right = check_width(*row); !right) return right.error();
      const auto unit = cell(*row, "unit");
      const auto name = cell(*row, "metric") + (unit.empty() ? "" : ", " + unit);
      if (cell(*row, "metric").empty()) continue;
      note(kernel, name, cell(*row, value_column));
      if (columns_.contains(share_column) && ncu_number(cell(*row, share_column)))
        note(kernel, cell(*row, "metric") + ", % of peak", cell(*row, share_column));
    }
    if (kernel.metrics.empty()) return damaged_rocprof("the table has no metric with a value");
    return finish();
  }

  Result<RocprofReport> finish() {
    for (const auto& name : without_)
      if (!numbers_.contains(name)) report_.unavailable.push_back(name);
    for (auto& kernel : report_.kernels) add_equivalents(kernel);
    return std::move(report_);
  }

  std::vector<CsvRow> rows_;
  std::map<std::string, std::size_t> columns_;     // by name in lower case
  std::map<std::string, std::size_t> dispatches_;  // in the report, by id
  std::set<std::string> numbers_, without_;
  RocprofReport report_;
};

// -------------------------------------------------------------------------------------------- JSON

const Json& member(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

std::optional<double> number_in(const Json& object, const char* name) {
  const auto& value = member(object, name);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::string text_in(const Json& object, const char* name) {
  const auto& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// The elements of an array, or the values of an object.
std::vector<const Json*> items(const Json& list) {
  std::vector<const Json*> all;
  if (list.is_array() || list.is_object())
    for (const auto& item : list) all.push_back(&item);
  return all;
}

class RocprofJson {
 public:
  Result<RocprofReport> read(const Json& document) && {
    report_.format = "rocprofv3_json";
    for (const auto* process : items(member(document, "rocprofiler-sdk-tool"))) {
      symbols_.clear();
      counters_.clear();
      dispatches_.clear();
      if (auto taken = take(*process); !taken) return taken.error();
    }
    if (report_.kernels.empty()) return damaged_rocprof("the document has no kernel dispatch");
    for (auto& kernel : report_.kernels) add_equivalents(kernel);
    return std::move(report_);
  }

 private:
  Status take(const Json& process) {
    for (const auto* agent : items(member(process, "agents"))) {
      constexpr double kGpu = 2;  // ROCPROFILER_AGENT_TYPE_GPU
      if (number_in(*agent, "type") != kGpu || !report_.device.empty()) continue;
      report_.device = text_in(*agent, "product_name");
      if (report_.device.empty()) report_.device = text_in(*agent, "name");
    }
    for (const auto* symbol : items(member(process, "kernel_symbols")))
      if (const auto id = number_in(*symbol, "kernel_id")) symbols_[*id] = symbol;
    for (const auto* counter : items(member(process, "counters")))
      if (const auto id = number_in(member(*counter, "id"), "handle"))
        counters_[*id] = text_in(*counter, "name");
    for (const auto* record : items(member(member(process, "buffer_records"), "kernel_dispatch")))
      if (auto taken = dispatch(*record); !taken) return taken.error();
    const auto& counted = member(member(process, "callback_records"), "counter_collection");
    for (const auto* record : items(counted))
      if (auto taken = collection(*record); !taken) return taken.error();
    return {};
  }

  /// The entry of a dispatch, made where it is new, with its times and its shape.
  Result<KernelCounters*> dispatch(const Json& record) {
    const auto& info = member(record, "dispatch_info");
    const auto id = number_in(info, "dispatch_id");
    const auto kernel_id = number_in(info, "kernel_id");
    if (!id || !kernel_id)
      return damaged_rocprof("a kernel dispatch has no dispatch_id or no kernel_id");
    const auto [known, is_new] = dispatches_.try_emplace(*id, report_.kernels.size());
    if (is_new) {
      if (report_.kernels.size() == kMostDispatches) return too_many_dispatches();
      report_.kernels.push_back({fmt::format("kernel {:.0f}", *kernel_id), {}});
      if (const auto symbol = symbols_.find(*kernel_id); symbol != symbols_.end())
        describe(*symbol->second, report_.kernels.back());
    }
    auto& kernel = report_.kernels[known->second];
    const auto set = [&](const char* name, const std::optional<double>& value) {
      if (value) kernel.metrics[name] = *value;
    };
    set("lds_bytes", number_in(info, "group_segment_size"));
    set("start", number_in(record, "start_timestamp"));
    set("end", number_in(record, "end_timestamp"));
    for (const auto* axis : {"x", "y", "z"}) {
      set(fmt::format("grid_{}", axis).c_str(), number_in(member(info, "grid_size"), axis));
      set(fmt::format("workgroup_{}", axis).c_str(),
          number_in(member(info, "workgroup_size"), axis));
    }
    return &kernel;
  }

  /// What the symbol says of all dispatches of its kernel.
  static void describe(const Json& symbol, KernelCounters& kernel) {
    for (const auto* member : {"formatted_kernel_name", "kernel_name"})
      if (auto name = text_in(symbol, member); !name.empty()) {
        kernel.name = plain_kernel_name(name);
        break;
      }
    take_registers(symbol, kernel);
  }

  static void take_registers(const Json& object, KernelCounters& kernel) {
    for (const auto& [from, to] :
         {std::pair{"arch_vgpr_count", "vgprs"}, std::pair{"accum_vgpr_count", "accum_vgprs"},
          std::pair{"sgpr_count", "sgprs"}})
      if (const auto value = number_in(object, from)) kernel.metrics[to] = *value;
  }

  Status collection(const Json& record) {
    auto found = dispatch(member(record, "dispatch_data"));
    if (!found) return found.error();
    auto& metrics = (*found)->metrics;
    take_registers(record, **found);
    if (const auto value = number_in(record, "lds_block_size_v")) metrics["lds_bytes"] = *value;
    for (const auto* one : items(member(record, "records"))) {
      const auto id = number_in(member(*one, "counter_id"), "handle");
      const auto value = number_in(*one, "value");
      if (!id || !value || !std::isfinite(*value)) continue;
      const auto name = counters_.find(*id);
      metrics[name == counters_.end() || name->second.empty() ? fmt::format("counter {:.0f}", *id)
                                                              : name->second] += *value;
    }
    return {};
  }

  std::map<double, const Json*> symbols_;   // of kernels, by id
  std::map<double, std::string> counters_;  // names, by handle
  std::map<double, std::size_t> dispatches_;
  RocprofReport report_;
};

}  // namespace

std::string plain_kernel_name(const std::string& whole) {
  auto name = whole;
  for (const std::string_view object : {" [clone .kd]", " (.kd)", ".kd"})
    if (name.ends_with(object)) name.resize(name.size() - object.size());
  if (name.starts_with("void ")) name.erase(0, 5);
  // Parentheses may also be of an unnamed namespace or of a template's argument.
  int open = 0;
  for (auto at = name.size(); name.ends_with(')') && at-- > 0;) {
    open += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    if (open > 0) continue;
    if (at > 0) name.resize(at);
    break;
  }
  return name.empty() ? whole : name;
}

void add_equivalents(KernelCounters& kernel) {
  auto& metrics = kernel.metrics;
  const auto value = [&](const char* name) -> std::optional<double> {
    const auto found = metrics.find(name);
    return found == metrics.end() ? std::nullopt : std::optional(found->second);
  };
  const auto set = [&](const char* name, double number) {
    if (std::isfinite(number)) metrics[name] = number;
  };
  const auto volume = [&](const char* whole, const std::string& axes) -> std::optional<double> {
    if (const auto all = value(whole)) return all;
    const auto x = value((axes + "x").c_str());
    if (!x) return std::nullopt;
    return *x * value((axes + "y").c_str()).value_or(1) * value((axes + "z").c_str()).value_or(1);
  };
  const auto start = value("start"), end = value("end");
  const double seconds = start && end && *end > *start ? (*end - *start) * 1e-9 : 0;
  if (seconds > 0) set("gpu__time_duration.sum", *end - *start);
  const auto block = volume("workgroup", "workgroup_"), grid = volume("grid", "grid_");
  if (block) set("launch__block_size", *block);
  // AMD counts the work-items of a grid, not its workgroups.
  if (block && grid && *block > 0) set("launch__grid_size", std::ceil(*grid / *block));
  if (const auto registers = value("vgprs"))
    set("launch__registers_per_thread", *registers + value("accum_vgprs").value_or(0));
  if (const auto bytes = value("lds_bytes")) set("launch__shared_mem_per_block", *bytes);
  constexpr double kKilobyte = 1024;  // FETCH_SIZE and WRITE_SIZE are in kilobytes
  double moved = 0;
  for (const auto& [from, alias, to] :
       {std::tuple{"FETCH_SIZE", "FetchSize", "dram__bytes_read.sum"},
        std::tuple{"WRITE_SIZE", "WriteSize", "dram__bytes_write.sum"}}) {
    const auto size = value(from) ? value(from) : value(alias);
    if (!size) continue;
    set(to, *size * kKilobyte);
    moved += *size * kKilobyte;
    if (seconds > 0) set("dram__bytes.sum.per_second", moved / seconds);
  }
  // Of channels that were counted one by one, the sum is here already.
  const auto hits = value("TCC_HIT_sum") ? value("TCC_HIT_sum") : value("TCC_HIT");
  const auto misses = value("TCC_MISS_sum") ? value("TCC_MISS_sum") : value("TCC_MISS");
  if (const auto rate = value("L2CacheHit"))
    set("lts__t_sector_hit_rate.pct", *rate);
  else if (hits && misses && *hits + *misses > 0)
    set("lts__t_sector_hit_rate.pct", 100 * *hits / (*hits + *misses));
  if (const auto occupancy = value("OccupancyPercent"))
    set("sm__warps_active.avg.pct_of_peak_sustained_active", *occupancy);
  for (const auto* used :
       {"start", "end", "workgroup", "workgroup_x", "workgroup_y", "workgroup_z", "grid", "grid_x",
        "grid_y", "grid_z", "vgprs", "accum_vgprs", "lds_bytes"})
    metrics.erase(used);
}

bool is_rocprof(std::string_view text) {
  if (is_rocprof_json(text)) return true;
  std::set<std::string> columns;
  auto head = lower(first_line(text));
  std::erase(head, '"');
  std::erase(head, '\r');
  for (std::size_t begin = 0; begin <= head.size();) {
    const auto end = std::min(head.find(',', begin), head.size());
    columns.insert(head.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto has = [&](const char* name) { return columns.contains(name); };
  const bool dispatches = has("kernel_name") && (has("dispatch_id") || has("correlation_id"));
  return dispatches || (has("metric") && (has("metric_id") || has("unit")));
}

Result<RocprofReport> read_rocprof(std::string_view text) {
  if (is_rocprof_json(text)) {
    auto document = bounded_json(text);
    if (!document) return Error{document.error().code, document.error().message, kRocprofHint};
    return RocprofJson().read(*document);
  }
  if (!is_rocprof(text))
    return damaged_rocprof(
        "this is neither a table of rocprofv3 or rocprof-compute nor JSON of rocprofv3");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  auto rows = read_csv(text);
  if (!rows) return Error{rows.error().code, rows.error().message, kRocprofHint};
  if (rows->empty()) return damaged_rocprof("the table has no columns");
  return RocprofTable(*std::move(rows)).read();
}

}  // namespace ratchet
