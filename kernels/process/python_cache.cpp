#include "kernels/process/python_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ranges>
#include <system_error>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/storage.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

// The folder names that python/fork_server.py uses.
constexpr std::array kCompilers{"triton", "inductor", "cute", "extensions"};
constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20U;
constexpr int kMostFiles = 20'000;

struct Record {
  BuildRecord build;
  std::vector<Dims> dims;                 ///< of all passes
  std::vector<std::vector<Dims>> orders;  ///< of each pass; older records have none

  static constexpr void fields(auto&& visit) {
    visit(required("build", &Record::build, ""), required("dims", &Record::dims, ""),
          optional("orders", &Record::orders, ""));
  }
};

std::optional<Record> read_record(const fs::path& folder) {
  const auto text = read_file(folder / PythonCache::kRecord);
  if (!text) return std::nullopt;
  auto record = decode_stored<Record>(Json::parse(*text, nullptr, false));
  if (!record) return std::nullopt;  // damaged: compiled again
  return *std::move(record);
}

Error refused(const fs::path& path, const std::error_code& why) {
  return Error{
      ErrorCode::unavailable,
      fmt::format("cannot copy what the kernel compiled to {}: {}", path.string(), why.message()),
      "Free some space in the state and temporary folders."};
}

/// Copies regular files and folders below `from`, nothing else (no links). The copies are readable
/// by the worker's user: only it can enter the private folder around them.
Status copy_files(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  std::uintmax_t bytes = 0;
  int files = 0;
  for (fs::recursive_directory_iterator entry(from, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto target = to / fs::relative(entry->path(), from, failed);
    const auto kind = entry->symlink_status(failed).type();
    if (kind == fs::file_type::directory) {
      fs::create_directories(target, failed);
      fs::permissions(target, fs::perms::all, failed);
    } else if (kind == fs::file_type::regular) {
      bytes += entry->file_size(failed);
      if (++files > kMostFiles || bytes > kMostBytes)
        return Error{ErrorCode::too_large,
                     fmt::format("the compilers of this kernel left more than {} files or {} MiB",
                                 kMostFiles, kMostBytes >> 20U),
                     "Compile fewer variants of the kernel."};
      fs::copy_file(entry->path(), target, fs::copy_options::overwrite_existing, failed);
      fs::permissions(target,
                      fs::perms::owner_all | fs::perms::group_read | fs::perms::others_read |
                          fs::perms::group_exec | fs::perms::others_exec,
                      failed);
    }
  }
  return failed ? Status(refused(to, failed)) : Status{};
}

/// Copies the compilers' caches that exist.
Status copy_caches(const fs::path& from, const fs::path& to) {
  for (const char* compiler : kCompilers) {
    std::error_code failed;
    if (fs::symlink_status(from / compiler, failed).type() != fs::file_type::directory) continue;
    fs::create_directories(to / compiler, failed);
    fs::permissions(to / compiler, fs::perms::all, failed);
    if (failed) return refused(to / compiler, failed);
    if (auto copied = copy_files(from / compiler, to / compiler); !copied) return copied;
  }
  return {};
}

}  // namespace

std::optional<BuildRecord> PythonCache::record() const {
  auto record = read_record(folder_);
  if (!record) return std::nullopt;
  note_use(folder_ / kRecord);
  return std::move(record->build);
}

std::vector<Dims> PythonCache::unknown(const std::vector<Dims>& dims) const {
  const auto record = read_record(folder_);
  std::vector<Dims> missing;
  for (const auto& one : dims)
    if (!record || std::ranges::find(record->dims, one) == record->dims.end())
      missing.push_back(one);
  return missing;
}

bool PythonCache::covers(const std::vector<Dims>& order) const {
  const auto record = read_record(folder_);
  return record && std::ranges::any_of(record->orders, [&](const auto& known) {
           return known.size() >= order.size() &&
                  std::equal(order.begin(), order.end(), known.begin());
         });
}

Status PythonCache::keep(const fs::path& worker_folder, const BuildRecord& record,
                         const std::vector<std::vector<Dims>>& orders) const {
  Record kept = read_record(folder_).value_or(Record{});
  kept.build = record;
  for (const auto& dims : std::views::join(orders))
    if (std::ranges::find(kept.dims, dims) == kept.dims.end()) kept.dims.push_back(dims);
  kept.orders.insert(kept.orders.end(), orders.begin(), orders.end());
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) return refused(folder_, failed);
  if (auto copied = copy_caches(worker_folder, folder_); !copied) return copied;
  return write_file(folder_ / kRecord, encode(kept).dump(2));
}

bool PythonCache::compiled_nothing() const {
  return std::ranges::none_of(kCompilers, [&](const char* compiler) {
    std::error_code failed;
    const fs::recursive_directory_iterator files(folder_ / compiler, failed);
    return !failed && std::any_of(begin(files), end(files), [](const fs::directory_entry& entry) {
      std::error_code gone;
      return entry.is_regular_file(gone);
    });
  });
}

std::vector<fs::path> PythonCache::files(const std::string& ending) const {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::recursive_directory_iterator entry(folder_, failed), end; !failed && entry != end;
       entry.increment(failed))
    if (entry->is_regular_file(failed) && entry->path().extension() == ending)
      found.push_back(entry->path());
  std::ranges::sort(found);
  return found;
}

Status PythonCache::furnish(const fs::path& worker_folder) const {
  note_use(folder_ / kRecord);
  return copy_caches(folder_, worker_folder);
}

}  // namespace ratchet
