#include "server/core/memory_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

namespace ratchet {
namespace {

// The kernel refuses to seal while anything holds a reference to a page: a mapping for writing, but
// also reclaim and migration, whose references are short-lived, though on a busy machine not always
// within the 150 ms that the system call itself waits.
constexpr std::chrono::seconds kReferenceTimeout{2};

Error refused(std::string_view what) {
  return unavailable(fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

Result<Mapping> Mapping::map(int fd, std::int64_t bytes, Access access) {
  struct stat state{};
  if (::fstat(fd, &state) != 0) return refused("fstat of a memory file");
  if (bytes <= 0 || state.st_size < bytes)
    return invalid_argument(
        fmt::format("the memory file has {} bytes; {} are needed", state.st_size, bytes));
  const int protection = access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* start = ::mmap(nullptr, static_cast<std::size_t>(bytes), protection, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) return refused("mmap of a memory file");
  return Mapping(static_cast<std::byte*>(start), static_cast<std::size_t>(bytes));
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (start_) ::munmap(start_, bytes_);
}

Result<MemoryFile> MemoryFile::create(const std::string& name, std::int64_t bytes) {
  Fd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return refused("memfd_create");
  if (::ftruncate(fd.get(), bytes) != 0) return refused("ftruncate of a memory file");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return refused("sealing a memory file's size");
  return MemoryFile(std::move(fd), bytes);
}

Result<MemoryFile> MemoryFile::holding(const std::string& name, std::string_view content) {
  auto file = create(name, static_cast<std::int64_t>(content.size()));
  if (!file) return file.error();
  {
    auto mapping = file->map(Mapping::Access::write);
    if (!mapping) return mapping.error();
    std::memcpy(mapping->bytes().data(), content.data(), content.size());
  }
  if (auto sealed = file->seal(); !sealed) return sealed.error();
  return file;
}

Result<Mapping> MemoryFile::map(Mapping::Access access) const {
  return Mapping::map(fd_.get(), bytes_, access);
}

Status MemoryFile::seal() {
  const auto deadline = std::chrono::steady_clock::now() + kReferenceTimeout;
  while (::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_WRITE) != 0) {
    if (errno != EBUSY) return refused("sealing a memory file");
    if (std::chrono::steady_clock::now() > deadline)
      return Error{ErrorCode::conflict, "the memory file is still mapped for writing"};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

}  // namespace ratchet
