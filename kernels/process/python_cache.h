#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/build.h"
#include "server/facts/contract.h"

namespace ratchet {

/// What compile passes of one Python kernel left behind: its record, the sizes it was compiled for
/// and the files of its just-in-time compilers (Triton, Inductor). Kept in a folder of the server's
/// own; processes get copies.
///
/// Thread rule: none of its own; the device's turn orders its users. Units: bytes.
/// Errors: `unavailable` when the file system refuses, `too_large` for a cache past its limits.
class PythonCache {
 public:
  explicit PythonCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The record of a successful compile pass; empty when there was none.
  [[nodiscard]] std::optional<BuildRecord> record() const;
  /// Those of `dims` that no compile pass has seen.
  [[nodiscard]] std::vector<Dims> unknown(const std::vector<Dims>& dims) const;

  /// Takes in what a compile pass for `dims` left in a worker's folder: regular files only.
  Status keep(const std::filesystem::path& worker_folder, const BuildRecord& record,
              const std::vector<Dims>& dims) const;
  /// The compiled kernels in it, by their file ending (".cubin", ".ptx"), in a stable order.
  [[nodiscard]] std::vector<std::filesystem::path> files(const std::string& ending) const;
  /// Copies the compilers' files into the folder of a worker that is about to start.
  Status furnish(const std::filesystem::path& worker_folder) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ratchet
