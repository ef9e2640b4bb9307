#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/process/private_folder.h"
#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/core/storage.h"
#include "server/facts/findings.h"

namespace ratchet {

/// A file read by a build, with its digest at that time.
struct Dependency {
  std::string path;
  std::string digest;

  static constexpr void fields(auto&& visit) {
    visit(required<&Dependency::path>(), required<&Dependency::digest>());
  }
};

/// Finished libraries by content. Which local headers a source includes is known only after a
/// build, so a lookup takes two steps: the request's key leads to lists of headers with digests,
/// and a list whose digests still match leads to the entry.
///
/// Thread rule: all methods may be called from several threads and processes; publishing takes a
/// file lock.
class BuildCache {
 public:
  static Result<BuildCache> open(const std::filesystem::path& root);

  /// The record of an earlier build whose headers and library are unchanged; `cached` is set.
  [[nodiscard]] std::optional<BuildRecord> find(const std::string& request_key) const;

  /// Stores a library and its record under `record.build_key`. An existing valid entry is kept and
  /// its record returned: a key never names two binaries.
  [[nodiscard]] Result<BuildRecord> publish(const std::string& request_key,
                                            const std::vector<Dependency>& headers,
                                            const BuildRecord& record,
                                            std::string_view library) const;

  /// Counts as a use. Errors: `not_found`.
  [[nodiscard]] Result<std::filesystem::path> path_of(const std::string& build_key) const;

  /// An empty folder for one compiler run, on the cache's file system.
  [[nodiscard]] Result<PrivateFolder> make_work_folder() const;

  /// All entries, and the lists that lead to them.
  [[nodiscard]] FileCount contents() const;

  /// Removes entries, least recently used first, until `bytes` are freed; with `dry_run` only
  /// counts. Entries used within the last minutes stay, and those that `needed` names.
  [[nodiscard]] FileCount shrink(std::int64_t bytes, const std::set<std::string>& needed,
                                 bool dry_run) const;

  /// The folder in which work folders are made.
  [[nodiscard]] std::filesystem::path work_folder() const { return root_ / "work"; }

  /// The entry's name, derived from request and headers.
  [[nodiscard]] static std::string build_key(const std::string& request_key,
                                             const std::vector<Dependency>& headers);

 private:
  explicit BuildCache(std::filesystem::path root) : root_(std::move(root)) {}

  /// Empty when it cannot be had; errno says why.
  [[nodiscard]] Fd publishing_lock() const;
  /// Those that lead to no entry any more. Requires the lock.
  [[nodiscard]] FileCount remove_useless_manifests() const;
  [[nodiscard]] std::filesystem::path folder_of(const std::string& build_key) const;
  [[nodiscard]] std::filesystem::path manifest_of(const std::string& request_key) const;
  [[nodiscard]] std::optional<BuildRecord> entry(const std::string& build_key) const;

  std::filesystem::path root_;
};

}  // namespace ratchet
