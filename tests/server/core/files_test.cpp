#include "server/core/files.h"

#include <sys/stat.h>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a written file reads back and leaves no temporary file", "[files]") {
  const test::TempFolder folder;

  REQUIRE(write_file(folder / "deep" / "note.md", "one"));
  REQUIRE(write_file(folder / "deep" / "note.md", "two"));

  CHECK(*read_file(folder / "deep" / "note.md") == "two");
  CHECK(std::distance(fs::directory_iterator(folder / "deep"), fs::directory_iterator()) == 1);
}

TEST_CASE("a failed write leaves the old file unchanged", "[files]") {
  const test::TempFolder folder;
  REQUIRE(write_file(folder / "a", "old"));

  // The parent of the target is a regular file, so the folder cannot be created.
  const auto status = write_file(folder / "a" / "b", "new");

  CHECK_FALSE(status);
  CHECK(*read_file(folder / "a") == "old");
}

TEST_CASE("a missing file, a folder, a pipe and an oversized file get different errors",
          "[files]") {
  const test::TempFolder folder;
  REQUIRE(write_file(folder / "big", std::string(11, 'x')));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);

  CHECK(read_file(folder / "none").error().code == ErrorCode::not_found);
  CHECK(read_file(folder.path()).error().code == ErrorCode::invalid_argument);
  CHECK(read_file(folder / "pipe").error().code == ErrorCode::invalid_argument);
  CHECK(read_file(folder / "big", 10).error().code == ErrorCode::too_large);
  CHECK(read_file(folder / "big", 11));
}

}  // namespace
}  // namespace ratchet
