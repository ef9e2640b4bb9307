#include "kernels/build/build_cache.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
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

/// Atomic, but without waiting for the disk: damage from a crash is detected by digest and rebuilt.
bool put(const fs::path& path, std::string_view bytes) {
  auto fresh = path;
  fresh += ".new";
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  std::ofstream out(fresh, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) return false;
  fs::rename(fresh, path, failure);
  return !failure;
}

Error unwritable(const fs::path& path, const std::string& why) {
  return unavailable(fmt::format("build cache {}: {}", path.string(), why),
                     "Check that the state directory can be written.");
}

}  // namespace

Result<BuildCache> BuildCache::open(const fs::path& root) {
  std::error_code failure;
  for (const auto* folder : {"entries", "manifests", "work"})
    if (fs::create_directories(root / folder, failure); failure)
      return unwritable(root, failure.message());
  const auto absolute = fs::canonical(root, failure);
  if (failure) return unwritable(root, failure.message());
  return BuildCache(absolute);
}

std::optional<BuildRecord> BuildCache::find(const std::string& request_key) const {
  const auto manifest = stored<Manifest>(manifest_of(request_key));
  if (!manifest) return std::nullopt;
  for (const auto& candidate : manifest->entries) {
    if (!std::ranges::all_of(candidate.headers, unchanged)) continue;
    if (auto record = entry(candidate.build_key)) {
      record->cached = true;
      return record;
    }
  }
  return std::nullopt;
}

Result<BuildRecord> BuildCache::publish(const std::string& request_key,
                                        const std::vector<Dependency>& headers,
                                        const BuildRecord& record, std::string_view library) const {
  const auto lock_path = root_ / "lock";
  const Fd lock(::open(lock_path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0)
    return unwritable(lock_path, std::strerror(errno));
  if (auto present = entry(record.build_key)) return *std::move(present);
  const auto folder = folder_of(record.build_key);
  if (!put(folder / "library.so", library) || !put(folder / "record.json", encode(record).dump()))
    return unwritable(folder, "cannot be written");
  auto manifest = stored<Manifest>(manifest_of(request_key)).value_or(Manifest{});
  manifest.entries.push_back({record.build_key, headers});
  if (manifest.entries.size() > kMostEntries) manifest.entries.erase(manifest.entries.begin());
  if (!put(manifest_of(request_key), encode(manifest).dump()))
    return unwritable(manifest_of(request_key), "cannot be written");
  return record;
}

Result<fs::path> BuildCache::path_of(const std::string& build_key) const {
  const auto path = folder_of(build_key) / "library.so";
  std::error_code none;
  const bool plain =
      !build_key.empty() && build_key.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (plain && fs::is_regular_file(path, none)) return path;
  return not_found(fmt::format("no build named {} in the cache", build_key),
                   "Submit the kernel again.");
}

Result<PrivateFolder> BuildCache::make_work_folder() const {
  return PrivateFolder::make_in(root_ / "work");
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
  const auto library = read_file(folder_of(build_key) / "library.so", std::size_t{1} << 30U);
  const bool whole = record && library && sha256_hex(*library) == record->binary_digest;
  return whole ? record : std::nullopt;
}

}  // namespace ratchet
