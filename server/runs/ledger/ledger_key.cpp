#include "server/runs/ledger/ledger_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "server/core/fd.h"
#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

constexpr std::size_t kKeyBytes = 32;  // HMAC-SHA-256 gains nothing from a longer key

Error key_error(const std::filesystem::path& path) {
  return {ErrorCode::unavailable,
          fmt::format("cannot create the ledger key {}: {}", path.string(), std::strerror(errno)),
          "Set --state-dir to a folder that this user can write to."};
}

/// Writes a temporary file and links it to the final name. A link fails if the name exists, so one
/// of several processes wins and no process sees a partial key.
Status make_key(const std::filesystem::path& path) {
  const std::string bytes = random_bytes(kKeyBytes);
  const auto temporary = path.string() + fmt::format(".{}", ::getpid());
  ::unlink(temporary.c_str());
  const Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return key_error(path);
  const bool written =
      ::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
      ::fsync(fd.get()) == 0;
  const bool linked = written && (::link(temporary.c_str(), path.c_str()) == 0 || errno == EEXIST);
  Status status;
  if (!linked) status = key_error(path);
  ::unlink(temporary.c_str());
  return status;
}

}  // namespace

Result<std::string> load_or_make_key(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    if (auto made = make_key(path); !made) return made.error();
  }
  ::chmod(path.c_str(), S_IRUSR | S_IWUSR);
  auto key = read_file(path, kKeyBytes);
  if (!key) return key.error();
  if (key->size() != kKeyBytes)
    return Error{
        ErrorCode::drift,
        fmt::format("{} has {} bytes; a ledger key must have {}", path.string(), key->size(),
                    kKeyBytes),
        "Restore the file from a backup; rows sealed with another key cannot be verified."};
  return key;
}

std::string seal_with(const std::string& key, std::string_view purpose,
                      std::initializer_list<std::string_view> fields) {
  std::string message(purpose);
  for (const auto field : fields) message += fmt::format("{}:{};", field.size(), field);
  return hex(hmac_sha256(key, message));
}

}  // namespace ratchet
