// rocprofv3's databases. The file is a stranger's: its tables are read, and nothing else of it
// runs.

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kernels/counters/rocprof_report.h"
#include "server/sqlite/sqlite.h"

namespace ratchet {
namespace {

constexpr sqlite::Label kLabel{"the rocpd database",
                               "Profile again with rocprofv3, or export CSV."};
constexpr std::size_t kMostRocpdDispatches = 1024;
constexpr int kStep = 100'000;    // virtual machine instructions
constexpr int kMostSteps = 2000;  // a few seconds

Error not_rocpd(const std::string& what) {
  return invalid_argument(what, "Give rocprofv3's results.db as it was written, or its CSV.");
}

class RocpdReader {
 public:
  explicit RocpdReader(sqlite::Database& database) : database_(database) {
    sqlite3_progress_handler(
        database_.handle(), kStep,
        [](void* steps) { return ++*static_cast<int*>(steps) > kMostSteps ? 1 : 0; }, &steps_);
  }
  ~RocpdReader() { sqlite3_progress_handler(database_.handle(), 0, nullptr, nullptr); }
  RocpdReader(const RocpdReader&) = delete;
  RocpdReader& operator=(const RocpdReader&) = delete;

  Result<RocprofReport> read() {
    report_.format = "rocpd";
    if (auto found = find_tables(); !found) return found.error();
    for (const auto& suffix : suffixes_) {
      suffix_ = suffix;
      events_.clear();
      for (const auto step :
           {&RocpdReader::dispatches, &RocpdReader::counters, &RocpdReader::device})
        if (auto done = (this->*step)(); !done) return done.error();
    }
    if (report_.kernels.empty()) return not_rocpd("the database has no kernel dispatch");
    for (auto& kernel : report_.kernels) add_equivalents(kernel);
    return std::move(report_);
  }

 private:
  /// A table's name in quotes; names end with an id of the process that wrote it. A merged database
  /// has tables of several.
  [[nodiscard]] std::string table(const std::string& name) const {
    std::string quoted = "\"";
    for (const char c : "rocpd_" + name + suffix_) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
  }

  Status find_tables() {
    auto statement = database_.prepare(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd%'");
    if (!statement) return not_rocpd("this is not a database of rocprofv3");
    constexpr std::string_view kDispatch = "rocpd_kernel_dispatch";
    for (;;) {
      auto row = statement->step();
      if (!row) return not_rocpd("this is not a database of rocprofv3: " + row.error().message);
      if (!*row) break;
      const std::string name(statement->text(0));
      // The virtual ones run code of their own.
      if (statement->text(1).starts_with("CREATE VIRTUAL")) continue;
      if (name.starts_with(kDispatch)) suffixes_.insert(name.substr(kDispatch.size()));
      tables_.insert(name);
    }
    if (suffixes_.empty()) return not_rocpd("the database has no table rocpd_kernel_dispatch");
    for (const auto& suffix : suffixes_)
      if (!tables_.contains("rocpd_info_kernel_symbol" + suffix))
        return not_rocpd("the database has no table rocpd_info_kernel_symbol" + suffix);
    return {};
  }

  /// Times lie in the row, or in a table of times, as the version of the schema has it.
  Result<bool> times_apart() {
    auto statement = database_.prepare("SELECT * FROM " + table("kernel_dispatch") + " LIMIT 0");
    if (!statement) return statement.error();
    auto probe =
        database_.prepare("SELECT start_id, end_id FROM " + table("kernel_dispatch") + " LIMIT 0");
    return probe.has_value() && tables_.contains("rocpd_timestamp" + suffix_);
  }

  Status dispatches() {
    auto apart = times_apart();
    if (!apart) return apart.error();
    const std::string times = *apart ? " JOIN " + table("timestamp") +
                                           " B ON B.id = K.start_id JOIN " + table("timestamp") +
                                           " E ON E.id = K.end_id"
                                     : "";
    auto statement = database_.prepare(
        "SELECT K.event_id, COALESCE(NULLIF(S.display_name, ''), NULLIF(S.kernel_name, ''), "
        "'kernel ' || K.kernel_id), " +
        std::string(*apart ? "B.value, E.value" : "K.start, K.\"end\"") +
        ", K.grid_size_x, K.grid_size_y, K.grid_size_z, K.workgroup_size_x, K.workgroup_size_y, "
        "K.workgroup_size_z, K.group_segment_size, S.arch_vgpr_count, S.accum_vgpr_count, "
        "S.sgpr_count FROM " +
        table("kernel_dispatch") + " K LEFT JOIN " + table("info_kernel_symbol") +
        " S ON S.id = K.kernel_id" + times + " ORDER BY K.id LIMIT " +
        std::to_string(kMostRocpdDispatches + 1));
    if (!statement) return not_rocpd(statement.error().message);
    constexpr std::array kFacts{"start",     "end",         "grid_x",      "grid_y",
                                "grid_z",    "workgroup_x", "workgroup_y", "workgroup_z",
                                "lds_bytes", "vgprs",       "accum_vgprs", "sgprs"};
    for (;;) {
      auto row = statement->step();
      if (!row) return not_rocpd(row.error().message);
      if (!*row) return {};
      if (report_.kernels.size() == kMostRocpdDispatches)
        return Error{ErrorCode::too_large,
                     fmt::format("the report has more than {} dispatches", kMostRocpdDispatches),
                     "Profile fewer of them: --kernel-include-regex, --kernel-iteration-range."};
      KernelCounters kernel{plain_kernel_name(std::string(statement->text(1))), {}};
      for (std::size_t i = 0; i < kFacts.size(); ++i)
        if (const int column = static_cast<int>(i) + 2; !statement->text(column).empty())
          kernel.metrics[kFacts[i]] = statement->real(column);
      events_.try_emplace(statement->integer(0), report_.kernels.size());
      report_.kernels.push_back(std::move(kernel));
    }
  }

  Status counters() {
    if (!tables_.contains("rocpd_pmc_event" + suffix_) ||
        !tables_.contains("rocpd_info_pmc" + suffix_))
      return {};
    auto statement =
        database_.prepare("SELECT P.event_id, I.name, P.value FROM " + table("pmc_event") +
                          " P JOIN " + table("info_pmc") + " I ON I.id = P.pmc_id");
    if (!statement) return not_rocpd(statement.error().message);
    for (;;) {
      auto row = statement->step();
      if (!row) return not_rocpd(row.error().message);
      if (!*row) return {};
      const auto kernel = events_.find(statement->integer(0));
      const double value = statement->real(2);
      if (kernel == events_.end() || !std::isfinite(value)) continue;
      // Instances of one counter, as of the channels of a cache, are rows of their own.
      report_.kernels[kernel->second].metrics[std::string(statement->text(1))] += value;
    }
  }

  Status device() {
    if (!report_.device.empty() || !tables_.contains("rocpd_info_agent" + suffix_)) return {};
    auto statement = database_.prepare("SELECT COALESCE(NULLIF(product_name, ''), name) FROM " +
                                       table("info_agent") + " WHERE type = 'GPU' LIMIT 1");
    if (!statement) return {};
    if (auto row = statement->step(); row && *row) report_.device = statement->text(0);
    return {};
  }

  sqlite::Database& database_;
  RocprofReport report_;
  std::set<std::string> tables_;
  std::set<std::string> suffixes_;
  std::string suffix_;                          // the one that is read
  std::map<std::int64_t, std::size_t> events_;  // of dispatches, to their place in the report
  int steps_ = 0;
};

}  // namespace

Result<RocprofReport> read_rocpd(std::string_view bytes) {
  if (!bytes.starts_with("SQLite format 3")) return not_rocpd("this is not an SQLite database");
  auto database = sqlite::Database::read(bytes, kLabel);
  if (!database) return not_rocpd(database.error().message);
  return RocpdReader(*database).read();
}

}  // namespace ratchet
