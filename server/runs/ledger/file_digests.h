#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "server/core/result.h"

namespace ratchet {

/// SHA-256 digests of files, read again only when the file was touched.
///
/// A digest is kept under the file's device and inode, with its size and the time of its last
/// change of status (ctime). No user can set that time: an edit that puts size and modification
/// time back, another file renamed into the place and a link that leads elsewhere are all read. A
/// file that was touched shortly before it was read is not kept, since a second edit could bear the
/// same time; nor is one on a file system that is not this machine's own, whose clock and caches we
/// do not know. What ctime does not show is a write through a memory mapping that was made writable
/// before: whoever must be sure begins with an empty object, which reads every byte. Lives no
/// longer than the process.
///
/// Thread rule: safe from several threads.
class FileDigests {
 public:
  /// `settled`: how long a file must have been left alone to be kept. Time stamps are as coarse as
  /// a second on some file systems.
  explicit FileDigests(std::chrono::nanoseconds settled = std::chrono::seconds(2))
      : settled_ns_(settled.count()) {}

  /// Whether a regular file, links followed, has this digest of 64 hex characters. `file` counts
  /// from the open folder `folder` where it is relative. Errors: as `read_file`; `not_found`
  /// whenever the path leads to nothing.
  [[nodiscard]] Result<bool> matches(int folder, const std::string& file,
                                     const std::string& digest);

  /// How many files were read so far; the others were known.
  [[nodiscard]] std::int64_t files_read() const;

 private:
  struct Stamp {
    std::int64_t size = 0;
    std::int64_t changed_s = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Known {
    Stamp stamp;
    std::string digest;
  };
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const Identity&) const = default;
  };
  struct HashIdentity {
    std::size_t operator()(const Identity& file) const { return file.inode * 31 + file.device; }
  };

  const std::int64_t settled_ns_;
  mutable std::mutex mutex_;
  std::unordered_map<Identity, Known, HashIdentity> known_;
  std::int64_t read_ = 0;
};

}  // namespace ratchet
