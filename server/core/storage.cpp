#include "server/core/storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <system_error>
#include <utility>

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBlock = 512;  // what st_blocks counts in
constexpr std::chrono::minutes kInUse(10);
constexpr std::string_view kSuffixes = "KMGT";
constexpr const char* kAbandoned = "left by killed servers";

}  // namespace

FileCount contents_of(const fs::path& folder) {
  FileCount found;
  std::error_code failed;
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, kOptions, failed), end;
       !failed && entry != end; entry.increment(failed)) {
    struct stat info{};
    if (::lstat(entry->path().c_str(), &info) != 0 || S_ISDIR(info.st_mode)) continue;
    ++found.files;
    found.bytes += info.st_blocks * kBlock;
  }
  return found;
}

std::int64_t space_of(const fs::path& file) {
  struct stat info{};
  return ::lstat(file.c_str(), &info) == 0 ? info.st_blocks * kBlock : 0;
}

void note_use(const fs::path& file) {
  ::utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

FileCount remove_least_used(std::vector<UsedFolder> folders, std::int64_t bytes, bool dry_run) {
  struct Aged {
    fs::path folder;
    fs::file_time_type used;
  };
  const auto now = fs::file_time_type::clock::now();
  std::vector<Aged> aged;
  for (auto& one : folders) {
    std::error_code failed;
    auto used = fs::last_write_time(one.mark, failed);
    if (failed) used = fs::last_write_time(one.folder, failed);
    // After a jump of the clock a time in the future says nothing.
    const bool recent = used <= now + kInUse && used > now - kInUse;
    if (!failed && !recent) aged.push_back({std::move(one.folder), used});
  }
  std::ranges::sort(aged, {}, &Aged::used);
  FileCount removed;
  for (const auto& one : aged) {
    if (removed.bytes >= bytes) break;
    const auto found = contents_of(one.folder);
    std::error_code stays;
    if (!dry_run) fs::remove_all(one.folder, stays);
    if (!stays) removed += found;
  }
  return removed;
}

Storage::Storage(fs::path folder, std::int64_t quota_bytes, std::vector<Store> stores,
                 std::function<FileCount(bool dry_run)> abandoned)
    : folder_(std::move(folder)),
      quota_(quota_bytes),
      stores_(std::move(stores)),
      abandoned_(std::move(abandoned)) {}

StorageUse Storage::use() const {
  StorageUse use;
  use.folder = folder_.string();
  if (quota_ > 0) use.quota_bytes = quota_;
  FileCount known;
  for (const auto& store : stores_) {
    const auto found = store.measure();
    known += found;
    use.stores.push_back({store.name, found.bytes, found.files, !store.shrink});
  }
  const auto all = contents_of(folder_);
  use.bytes = std::max(all.bytes, known.bytes);
  use.stores.push_back({"other files", use.bytes - known.bytes,
                        std::max<std::int64_t>(all.files - known.files, 0), true});
  return use;
}

Collection Storage::collect(std::int64_t quota_bytes, bool dry_run) const {
  const std::scoped_lock lock(collecting_);
  Collection collection;
  collection.parts.push_back({kAbandoned, abandoned_(dry_run)});
  auto over = use().bytes - quota_bytes;
  for (const auto& store : stores_) {
    if (!store.shrink) continue;
    FileCount removed;
    if (over > 0) removed = store.shrink(over, dry_run);
    over -= removed.bytes;
    collection.parts.push_back({store.name, removed});
  }
  collection.after = use();
  return collection;
}

Collection Storage::collect() const {
  return collect(quota_ > 0 ? quota_ : std::numeric_limits<std::int64_t>::max(), false);
}

Status Storage::admit() const {
  if (quota_ <= 0 || use().bytes <= quota_) return {};
  const auto after = collect(quota_, false).after;
  if (after.bytes <= quota_) return {};
  std::string parts;
  for (const auto& store : after.stores)
    if (store.bytes > 0)
      parts +=
          fmt::format("{}{} {}", parts.empty() ? "" : ", ", store.name, size_text(store.bytes));
  return Error{
      ErrorCode::unavailable,
      fmt::format("disk quota: the state folder {} takes {} and may take {} (--disk-quota); what "
                  "is left is evidence or in use: {}",
                  folder_.string(), size_text(after.bytes), size_text(quota_), parts),
      "Nothing was built or recorded. Start the server with a larger --disk-quota, or with another "
      "--state-dir for new runs; `ratchet gc` shows what can still be removed."};
}

Result<std::int64_t> parse_size(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  const auto power = unit.empty() ? 0 : kSuffixes.find(unit.front()) + 1;
  const bool known = unit.empty() || (unit.size() == 1 && power != std::string_view::npos + 1);
  const auto shift = 10 * static_cast<unsigned>(known ? power : 0);
  if (code != std::errc{} || !known || number < 0 ||
      number > (std::numeric_limits<std::int64_t>::max() >> shift))
    return invalid_argument(
        fmt::format("must be a number of bytes, or one with K, M, G or T, got \"{}\"", text),
        "For example 10G.");
  return number << shift;
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace ratchet
