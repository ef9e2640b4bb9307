#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "server/core/fd.h"
#include "server/core/result.h"

namespace ratchet {

/// A mapping of a memory file into this process; the destructor unmaps it. Move-only.
class Mapping {
 public:
  enum class Access { read, write };

  /// Maps the first `bytes` of `fd`. Errors: `invalid_argument` when the file is smaller, since
  /// later reads would fault; `unavailable` when the system call fails.
  static Result<Mapping> map(int fd, std::int64_t bytes, Access access);

  Mapping(Mapping&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::span<std::byte> bytes() const { return {start_, bytes_}; }

 private:
  Mapping(std::byte* start, std::size_t bytes) : start_(start), bytes_(bytes) {}

  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Anonymous memory that is passed between processes as a descriptor. Its size is sealed, so that
/// no holder can make another's mapping fault.
///
/// Not synchronized: its holders take turns. Owns one descriptor.
class MemoryFile {
 public:
  static Result<MemoryFile> create(const std::string& name, std::int64_t bytes);
  /// A sealed file with this content.
  static Result<MemoryFile> holding(const std::string& name, std::string_view content);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] Result<Mapping> map(Mapping::Access access) const;

  /// Makes the content immutable. Errors: `conflict` while it is still mapped for writing
  /// somewhere.
  Status seal();

 private:
  MemoryFile(Fd fd, std::int64_t bytes) : fd_(std::move(fd)), bytes_(bytes) {}

  Fd fd_;
  std::int64_t bytes_ = 0;
};

}  // namespace ratchet
