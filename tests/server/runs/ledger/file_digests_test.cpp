// Which changes of a file are seen although its bytes are not read each time.

#include "server/runs/ledger/file_digests.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::FastFolder;
using samples::put;

constexpr std::chrono::milliseconds kSettled{50};

/// Until what was written so far counts as settled.
void settle() {
  std::this_thread::sleep_for(2 * kSettled);
}

bool holds(FileDigests& digests, const std::filesystem::path& path, const std::string& text) {
  const auto found = digests.matches(AT_FDCWD, path, sha256_hex(text));
  REQUIRE(found);
  return *found;
}

TEST_CASE("a file that nobody touched is read once", "[runs][digests]") {
  const FastFolder folder;
  const auto path = folder.path() / "build.md";
  put(path, "32 registers");
  settle();
  FileDigests digests(kSettled);

  CHECK(holds(digests, path, "32 registers"));
  CHECK(holds(digests, path, "32 registers"));
  CHECK(digests.files_read() == 1);
}

TEST_CASE("an edit that puts size and modification time back is seen", "[runs][digests]") {
  const FastFolder folder;
  const auto path = folder.path() / "build.md";
  put(path, "32 registers");
  settle();
  FileDigests digests(kSettled);
  CHECK(holds(digests, path, "32 registers"));
  struct stat before{};
  REQUIRE(::stat(path.c_str(), &before) == 0);

  put(path, "16 registers");
  const std::array<timespec, 2> times{before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0) == 0);

  CHECK(holds(digests, path, "16 registers"));
}

TEST_CASE("an edit right after a file was written and read is seen", "[runs][digests]") {
  const FastFolder folder;
  const auto path = folder.path() / "build.md";
  FileDigests digests;
  for (int i = 0; i < 200; ++i) {  // within one tick of the file system's clock
    const std::string text = std::to_string(100 + i);
    put(path, text);
    REQUIRE(holds(digests, path, text));
  }
  CHECK(holds(digests, path, "299"));
  CHECK(digests.files_read() == 201);  // none was kept
}

TEST_CASE("another file renamed into the place is seen", "[runs][digests]") {
  const FastFolder folder;
  const auto path = folder.path() / "build.md";
  put(path, "32 registers");
  put(folder.path() / "other", "16 registers");
  settle();
  FileDigests digests(kSettled);
  CHECK(holds(digests, path, "32 registers"));

  std::filesystem::rename(folder.path() / "other", path);

  CHECK(holds(digests, path, "16 registers"));
}

TEST_CASE("a link that leads elsewhere is seen, also to a file that is known", "[runs][digests]") {
  const FastFolder folder;
  const auto link = folder.path() / "build.md";
  put(folder.path() / "good", "32 registers");
  put(folder.path() / "bad", "16 registers");
  settle();
  FileDigests digests(kSettled);
  CHECK(holds(digests, folder.path() / "good", "32 registers"));
  CHECK(holds(digests, folder.path() / "bad", "16 registers"));

  std::filesystem::create_symlink("good", link);
  CHECK(holds(digests, link, "32 registers"));
  std::filesystem::remove(link);
  std::filesystem::create_symlink("bad", link);
  CHECK(holds(digests, link, "16 registers"));
  CHECK(digests.files_read() == 2);
}

TEST_CASE("what is missing and what is no file has no digest", "[runs][digests]") {
  const FastFolder folder;
  FileDigests digests;

  CHECK(digests.matches(AT_FDCWD, folder.path() / "build.md", "").error().code ==
        ErrorCode::not_found);
  CHECK(digests.matches(AT_FDCWD, folder.path(), "").error().code == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ratchet
