#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/field.h"
#include "server/core/result.h"

namespace ratchet {

/// Files and the space that they take.
struct FileCount {
  std::int64_t files = 0;  ///< folders are not counted
  std::int64_t bytes = 0;  ///< on disk: a sparse file counts less than its length

  FileCount& operator+=(const FileCount& other) {
    files += other.files;
    bytes += other.bytes;
    return *this;
  }
};

/// What lies below a folder, links not followed; nothing if there is no such folder.
[[nodiscard]] FileCount contents_of(const std::filesystem::path& folder);

/// The space that a file takes; 0 if there is none.
[[nodiscard]] std::int64_t space_of(const std::filesystem::path& file);

/// Marks a file as used now, for `remove_least_used`. Without effect where it cannot be.
void note_use(const std::filesystem::path& file);

/// A folder that goes as a whole; the time of `mark`, a file in it, is that of its last use. While
/// there is no such file, the folder's own time counts.
struct UsedFolder {
  std::filesystem::path folder;
  std::filesystem::path mark;
};

/// Removes folders, least recently used first, until `bytes` are freed; those used within the last
/// ten minutes stay, because work that began then may still read them.
[[nodiscard]] FileCount remove_least_used(std::vector<UsedFolder> folders, std::int64_t bytes,
                                          bool dry_run);

/// One class of files of a state folder, kept by whoever writes them.
struct Store {
  std::string name;
  std::function<FileCount()> measure;
  /// Removes files until `bytes` are freed or only files in use are left, least recently used
  /// first, and says what it removed, or with `dry_run` would remove. None: evidence, which stays.
  std::function<FileCount(std::int64_t bytes, bool dry_run)> shrink = {};
};

struct StoreUse {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t files = 0;
  bool evidence = false;

  static constexpr void fields(auto&& visit) {
    using S = StoreUse;
    visit(required<&S::name>("Class of files."), required<&S::bytes>("Space on disk, bytes."),
          required<&S::files>("Number of files."),
          required<&S::evidence>("Whether `ratchet gc` keeps all of it."));
  }
};

/// What takes space in a state folder.
struct StorageUse {
  std::string folder;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> quota_bytes;
  std::vector<StoreUse> stores;

  static constexpr void fields(auto&& visit) {
    using S = StorageUse;
    visit(required<&S::folder>("The state folder."), required<&S::bytes>("All of it, bytes."),
          optional<&S::quota_bytes>("The quota of this server; absent: none."),
          required<&S::stores>("By class of files."));
  }
};

/// What a collection removed.
struct Collection {
  struct Part {
    std::string store;
    FileCount removed;
  };
  std::vector<Part> parts;
  StorageUse after;  ///< with a dry run: what is there
};

/// Keeps a state folder below a quota by removing what can be made again, never evidence.
///
/// Thread-safe; several servers on one folder may collect at once, because each store locks what it
/// removes.
class Storage {
 public:
  /// `quota_bytes`: 0 for none. Stores are shrunk in their order. `abandoned` removes what killed
  /// servers left, in the state folder and elsewhere.
  Storage(std::filesystem::path folder, std::int64_t quota_bytes, std::vector<Store> stores,
          std::function<FileCount(bool dry_run)> abandoned);

  /// Files that no store knows are evidence, named "other files".
  [[nodiscard]] StorageUse use() const;

  /// Removes what killed servers left, then what can be made again until at most `quota_bytes` are
  /// left; 0 removes all of it that is not in use.
  Collection collect(std::int64_t quota_bytes, bool dry_run) const;

  /// The same with this server's quota; without one only what killed servers left.
  Collection collect() const;

  /// Whether more may be built and recorded. Over the quota it collects first.
  /// Errors: `unavailable` with quota, used bytes and what to do.
  [[nodiscard]] Status admit() const;

 private:
  const std::filesystem::path folder_;
  const std::int64_t quota_;
  const std::vector<Store> stores_;
  const std::function<FileCount(bool dry_run)> abandoned_;
  mutable std::mutex collecting_;
};

/// "512M", "10G", "0": bytes, with K, M, G or T for powers of 1024. Errors: `invalid_argument`.
[[nodiscard]] Result<std::int64_t> parse_size(std::string_view text);

/// "3.2 GiB".
[[nodiscard]] std::string size_text(std::int64_t bytes);

}  // namespace ratchet
