#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/build.h"
#include "server/facts/contract.h"

namespace ratchet {

/// The results of one Python kernel's compile passes: its record, the sizes it was compiled for and
/// the files of its just-in-time compilers (Triton, Inductor). Kept in a folder of the server;
/// worker processes get copies. `kRecord` in it has the time of its last use.
///
/// Thread rule: not synchronized; callers hold the device. Units: bytes. Errors: `unavailable` when
/// the file system refuses, `too_large` for a cache beyond its limits.
class PythonCache {
 public:
  static constexpr const char* kRecord = "record.json";

  explicit PythonCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The record of a successful compile pass; empty if there was none. Counts as a use of the
  /// cache, and so does `furnish`.
  [[nodiscard]] std::optional<BuildRecord> record() const;
  /// The `dims` that no compile pass has covered.
  [[nodiscard]] std::vector<Dims> unknown(const std::vector<Dims>& dims) const;
  /// Whether a compile pass called the kernel at these sizes in this order, from its first call on.
  [[nodiscard]] bool covers(const std::vector<Dims>& order) const;

  /// Stores what a compile pass, which called the kernel in these orders, left in a worker's
  /// folder: regular files only.
  Status keep(const std::filesystem::path& worker_folder, const BuildRecord& record,
              const std::vector<std::vector<Dims>>& orders) const;
  /// Whether no compiler left a file for the sizes of the passes so far.
  [[nodiscard]] bool compiled_nothing() const;
  /// The compiled kernels, by file ending (".cubin", ".ptx"), in a stable order.
  [[nodiscard]] std::vector<std::filesystem::path> files(const std::string& ending) const;
  /// Copies the compilers' files into the folder of a worker about to start.
  Status furnish(const std::filesystem::path& worker_folder) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ratchet
