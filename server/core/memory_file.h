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

/// A view of a memory file in this process; unmapped by the destructor. Move-only.
class Mapping {
 public:
  enum class Access { read, write };

  /// Maps the first `bytes` of `fd`. Errors: `invalid_argument` when the file is smaller, so that
  /// no later read can fault; `unavailable` when the system refuses.
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

/// Anonymous memory that travels between processes as a descriptor. Its size is fixed for good, so
/// that nobody who holds it can make another's mapping fault.
///
/// Thread rule: none of its own; the holders take turns. Owns one descriptor.
class MemoryFile {
 public:
  static Result<MemoryFile> create(const std::string& name, std::int64_t bytes);
  /// With `content`, sealed.
  static Result<MemoryFile> holding(const std::string& name, std::string_view content);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] Result<Mapping> map(Mapping::Access access) const;

  /// Nobody can write any more. Errors: `conflict` while somebody still has it mapped for writing.
  Status seal();

 private:
  MemoryFile(Fd fd, std::int64_t bytes) : fd_(std::move(fd)), bytes_(bytes) {}

  Fd fd_;
  std::int64_t bytes_ = 0;
};

}  // namespace ratchet
