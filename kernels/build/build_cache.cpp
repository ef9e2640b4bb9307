#include "kernels/build/build_cache.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "server/core/fd.h"
#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

/// The header lists seen for one request, newest last.
struct Manifest {
  struct Entry {
    std::string build_key;
    std::vector<Dependency> headers;

    static constexpr void fields(auto&& visit) {
      visit(required<&Entry::build_key>(), required<&Entry::headers>());
    }
  };
  std::vector<Entry> entries;

  static constexpr void fields(auto&& visit) { visit(required<&Manifest::entries>()); }
};

constexpr const char* kLibrary = "library.so";
constexpr std::size_t kMostEntries = 16;  // older header states are forgotten and rebuilt if needed

bool unchanged(const Dependency& header) {
  const auto text = read_file(header.path);
  return text && sha256_hex(*text) == header.digest;
}

template <class T>
std::optional<T> stored(const fs::path& path) {
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  const auto json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  auto value = decode_stored<T>(json);
  return value ? std::optional(*std::move(value)) : std::nullopt;
}

/// The paths in a folder; none if it cannot be read.
std::vector<fs::path> listed(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed))
    paths.push_back(entry->path());
  return paths;
}

Error unwritable(const fs::path& path, int code) {
  const auto hint = hint_for(code);
  return unavailable(
      fmt::format("build cache {}: {}", path.string(), std::strerror(code)),
      std::string(hint.empty() ? "Check that the state directory can be written." : hint));
}

/// Atomic, but without waiting for the disk: damage from a crash is detected by digest and rebuilt.
Status put(const fs::path& path, std::string_view bytes) {
  auto fresh = path;
  fresh += ".new";
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  if (failure) return unwritable(path.parent_path(), failure.value());
  auto written = write_unsynced(fresh, bytes);
  if (written) fs::rename(fresh, path, failure);
  if (failure) written = unwritable(path, failure.value());
  if (!written) fs::remove(fresh, failure);
  return written;
}

}  // namespace

Result<BuildCache> BuildCache::open(const fs::path& root) {
  std::error_code failure;
  for (const auto* folder : {"entries", "manifests", "work"})
    if (fs::create_directories(root / folder, failure); failure)
      return unwritable(root, failure.value());
  const auto absolute = fs::canonical(root, failure);
  if (failure) return unwritable(root, failure.value());
  return BuildCache(absolute);
}

std::optional<BuildRecord> BuildCache::find(const std::string& request_key) const {
  const auto manifest = stored<Manifest>(manifest_of(request_key));
  if (!manifest) return std::nullopt;
  for (const auto& candidate : manifest->entries) {
    if (!std::ranges::all_of(candidate.headers, unchanged)) continue;
    if (auto record = entry(candidate.build_key)) {
      note_use(folder_of(candidate.build_key) / kLibrary);
      record->cached = true;
      return record;
    }
  }
  return std::nullopt;
}

Result<BuildRecord> BuildCache::publish(const std::string& request_key,
                                        const std::vector<Dependency>& headers,
                                        const BuildRecord& record, std::string_view library) const {
  const Fd lock = publishing_lock();
  if (!lock) return unwritable(root_ / "lock", errno);
  const auto present = entry(record.build_key);
  const auto folder = folder_of(record.build_key);
  if (!present) {
    if (auto kept = put(folder / kLibrary, library); !kept) return kept.error();
    if (auto kept = put(folder / "record.json", encode(record).dump()); !kept) return kept.error();
  }
  // Also for an entry that was there: a server may have been killed before it wrote the list.
  auto manifest = stored<Manifest>(manifest_of(request_key)).value_or(Manifest{});
  std::erase_if(manifest.entries,
                [&](const Manifest::Entry& one) { return one.build_key == record.build_key; });
  manifest.entries.push_back({record.build_key, headers});
  if (manifest.entries.size() > kMostEntries) manifest.entries.erase(manifest.entries.begin());
  if (auto kept = put(manifest_of(request_key), encode(manifest).dump()); !kept)
    return kept.error();
  return present.value_or(record);
}

Result<fs::path> BuildCache::path_of(const std::string& build_key) const {
  const auto path = folder_of(build_key) / kLibrary;
  std::error_code none;
  const bool plain =
      !build_key.empty() && build_key.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (plain && fs::is_regular_file(path, none)) {
    note_use(path);
    return path;
  }
  return not_found(fmt::format("the build {} is no longer in the build cache", build_key),
                   "Call submit_kernel to build it again.");
}

Result<PrivateFolder> BuildCache::make_work_folder() const {
  return PrivateFolder::make_in(work_folder());
}

FileCount BuildCache::contents() const {
  auto all = contents_of(root_ / "entries");
  all += contents_of(root_ / "manifests");
  return all;
}

FileCount BuildCache::shrink(std::int64_t bytes, const std::set<std::string>& needed,
                             bool dry_run) const {
  const Fd lock = publishing_lock();
  if (!lock) return {};
  std::vector<UsedFolder> entries;
  for (const auto& some : listed(root_ / "entries"))
    for (const auto& one : listed(some))
      if (!needed.contains(one.filename().string())) entries.push_back({one, one / kLibrary});
  auto removed = remove_least_used(std::move(entries), bytes, dry_run);
  if (!dry_run) removed += remove_useless_manifests();
  return removed;
}

FileCount BuildCache::remove_useless_manifests() const {
  FileCount removed;
  for (const auto& file : listed(root_ / "manifests")) {
    const auto manifest = stored<Manifest>(file);
    const bool leads_somewhere =
        manifest && std::ranges::any_of(manifest->entries, [&](const Manifest::Entry& one) {
          std::error_code none;
          return fs::exists(folder_of(one.build_key), none);
        });
    if (leads_somewhere) continue;
    const auto bytes = space_of(file);
    std::error_code stays;
    if (fs::remove(file, stays)) removed += {1, bytes};
  }
  return removed;
}

Fd BuildCache::publishing_lock() const {
  const auto path = root_ / "lock";
  Fd lock(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (lock && ::flock(lock.get(), LOCK_EX) != 0) lock.reset();
  return lock;
}

std::string BuildCache::build_key(const std::string& request_key,
                                  const std::vector<Dependency>& headers) {
  auto text = request_key;
  for (const auto& header : headers) text += "\n" + header.digest;
  return sha256_hex(text);
}

fs::path BuildCache::folder_of(const std::string& build_key) const {
  return root_ / "entries" / build_key.substr(0, 2) / build_key;
}

fs::path BuildCache::manifest_of(const std::string& request_key) const {
  return root_ / "manifests" / (request_key + ".json");
}

std::optional<BuildRecord> BuildCache::entry(const std::string& build_key) const {
  auto record = stored<BuildRecord>(folder_of(build_key) / "record.json");
  const auto library = read_file(folder_of(build_key) / kLibrary, std::size_t{1} << 30U);
  const bool whole = record && library && sha256_hex(*library) == record->binary_digest;
  return whole ? record : std::nullopt;
}

}  // namespace ratchet
