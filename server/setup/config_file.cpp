#include "server/setup/config_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "server/core/fd.h"
#include "server/core/files.h"

namespace ratchet::setup {
namespace {

namespace fs = std::filesystem;

Error cannot(std::string_view what, const fs::path& path) {
  return unavailable(fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno)),
                     "Where setup cannot write, `ratchet setup CLIENT --print` shows the entry.");
}

bool leads_out(const fs::path& path, const fs::path& within) {
  const auto part = path.lexically_relative(within);
  return part.empty() || *part.begin() == "..";
}

}  // namespace

Result<ConfigFile> ConfigFile::open(const fs::path& path, const fs::path& within) {
  ConfigFile file;
  std::error_code failed;
  file.path_ = fs::weakly_canonical(path, failed);
  if (failed)
    return unavailable(fmt::format("cannot read {}: {}", path.string(), failed.message()));
  if (fs::is_symlink(fs::symlink_status(file.path_, failed)))
    return Error{ErrorCode::not_permitted,
                 fmt::format("{} is a symbolic link to a file that does not exist", path.string()),
                 "Make the file that it points to, or remove the link."};
  if (!within.empty() && leads_out(file.path_, fs::canonical(within, failed)))
    return Error{ErrorCode::not_permitted,
                 fmt::format("{} leads through a symbolic link to {}, outside this folder",
                             path.string(), file.path_.string()),
                 "Replace the link by a file, if the project may be trusted."};
  struct stat info{};
  if (::stat(file.path_.c_str(), &info) != 0) {
    if (errno == ENOENT) return file;
    return cannot("read", path);
  }
  if (info.st_uid != ::geteuid())
    return Error{ErrorCode::not_permitted,
                 fmt::format("{} belongs to user {}", file.path_.string(), info.st_uid),
                 "Run setup as that user."};
  auto text = read_file(file.path_);
  if (!text) return text.error();
  file.exists_ = true;
  file.text_ = *std::move(text);
  file.mode_ = info.st_mode & 07777U;
  return file;
}

Status ConfigFile::unchanged() const {
  auto now = read_file(path_);
  const bool same = now ? exists_ && *now == text_ : !exists_;
  if (same) return {};
  return Error{ErrorCode::conflict,
               fmt::format("{} changed while setup was at work", path_.string()),
               "Nothing was written. Try again; end the client first if it keeps happening."};
}

Status ConfigFile::replace(const std::string& text, std::vector<fs::path>& made) {
  std::vector<fs::path> missing;
  for (auto folder = path_.parent_path(); !fs::exists(folder); folder = folder.parent_path())
    missing.push_back(folder);
  for (auto folder = missing.rbegin(); folder != missing.rend(); ++folder) {
    if (::mkdir(folder->c_str(), 0755) != 0) return cannot("make the folder", *folder);
    made.push_back(*folder);
  }
  const auto temporary =
      path_.parent_path() / fmt::format(".{}.{}", path_.filename().string(), ::getpid());
  const Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return cannot("write", temporary);
  auto status = write_open_file(fd.get(), text, path_);
  if (status && ::fchmod(fd.get(), mode_) != 0) status = cannot("set the mode of", temporary);
  if (status) status = unchanged();
  if (status && ::rename(temporary.c_str(), path_.c_str()) != 0) status = cannot("replace", path_);
  if (!status) {
    ::unlink(temporary.c_str());
    return status;
  }
  text_ = text;
  exists_ = true;
  return {};
}

Status ConfigFile::remove(const std::vector<fs::path>& folders) {
  if (auto same = unchanged(); !same) return same;
  if (::unlink(path_.c_str()) != 0) return cannot("remove", path_);
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder)
    ::rmdir(folder->c_str());  // one that holds something else stays
  text_.clear();
  exists_ = false;
  return {};
}

}  // namespace ratchet::setup
