#include "server/core/beneath.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "server/core/fd.h"
#include "server/core/files.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

TEST_CASE("files beneath a folder are written, read, moved and removed", "[beneath]") {
  const test::TempFolder place;
  const auto folder = Folder::make(place / "new" / "run");
  REQUIRE(folder);

  REQUIRE(folder->write("v1/build.md", "one"));
  REQUIRE(folder->write("v1/build.md", "two"));
  CHECK(*folder->read("v1/build.md") == "two");
  CHECK(std::distance(fs::directory_iterator(place / "new/run/v1"), fs::directory_iterator()) == 1);
  CHECK(folder->read("v1/build.md", 2).error().code == ErrorCode::too_large);
  REQUIRE(folder->move("v1", "previous/v1"));
  CHECK(*read_file(place / "new/run/previous/v1/build.md") == "two");
  REQUIRE(folder->remove("previous/v1/build.md"));
  REQUIRE(folder->remove("previous/v1/build.md"));
  CHECK(folder->read("previous/v1/build.md").error().code == ErrorCode::not_found);
}

TEST_CASE("what a killed process left half written is removed, and nothing else", "[beneath]") {
  const test::TempFolder place;
  const auto folder = Folder::make(place / "run");
  REQUIRE(folder);
  REQUIRE(folder->write("v1/build.md", "whole"));
  REQUIRE(folder->write("v1/.build.md.ratchet-1-0", "left by a killed process"));
  REQUIRE(folder->write(".env", "a user's"));
  REQUIRE(folder->write("report.ratchet-2", "a user's"));
  REQUIRE(folder->write("v1/.held.md.ratchet-1-1", "being written"));
  const Fd held(::open((place / "run/v1/.held.md.ratchet-1-1").c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(held.get(), LOCK_EX) == 0);
  REQUIRE(write_file(place / "outside" / ".x.ratchet-1-2", "elsewhere"));
  fs::create_directory_symlink(place / "outside", place / "run" / "link");

  folder->remove_half_written();

  CHECK_FALSE(fs::exists(place / "run/v1/.build.md.ratchet-1-0"));
  for (const char* kept : {"run/v1/build.md", "run/.env", "run/report.ratchet-2",
                           "run/v1/.held.md.ratchet-1-1", "outside/.x.ratchet-1-2"})
    CHECK(fs::exists(place / kept));
}

TEST_CASE("no symbolic link on the way is followed, and the error names it", "[beneath]") {
  const test::TempFolder place;
  REQUIRE(write_file(place / "outside" / "secret", "kept"));
  fs::create_directories(place / "run");
  fs::create_directory_symlink(place / "outside", place / "run" / "v1");
  fs::create_symlink(place / "outside" / "secret", place / "run" / "file");
  fs::create_directory_symlink(place / "run", place / "link");
  const auto folder = Folder::open(place / "run");
  REQUIRE(folder);

  for (const char* name : {"v1/secret", "file"}) {
    const auto read = folder->read(name);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::not_permitted);
    CHECK(read.error().message.find("symbolic link") != std::string::npos);
  }
  CHECK(folder->write("v1/secret", "changed").error().code == ErrorCode::not_permitted);
  CHECK(folder->write("v1/new", "made").error().code == ErrorCode::not_permitted);
  CHECK(folder->remove("v1/secret").error().code == ErrorCode::not_permitted);
  CHECK(Folder::open(place / "link").error().code == ErrorCode::not_permitted);
  CHECK(Folder::make(place / "link" / "deep").error().code == ErrorCode::not_permitted);
  // A link in place of the file itself is replaced, not followed.
  REQUIRE(folder->write("file", "own"));
  CHECK(fs::is_regular_file(fs::symlink_status(place / "run" / "file")));
  CHECK(*read_file(place / "outside" / "secret") == "kept");
  CHECK_FALSE(fs::exists(place / "outside" / "new"));
}

TEST_CASE("names that are absolute, empty or lead up are refused", "[beneath]") {
  const test::TempFolder place;
  REQUIRE(write_file(place / "secret", "kept"));
  const auto folder = Folder::make(place / "run");
  REQUIRE(folder);
  REQUIRE(folder->write("v1/file", "x"));

  for (const auto& name : {fs::path("../secret"), fs::path("v1/../../secret"), place / "secret",
                           fs::path(""), fs::path(".."), fs::path("v1/")})
    CHECK(folder->read(name).error().code == ErrorCode::invalid_argument);
  CHECK(Folder::open("relative").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("a folder that is swapped for a link all the time never leads a write outside",
          "[beneath]") {
  const test::TempFolder place;
  fs::create_directories(place / "outside");
  const auto folder = Folder::make(place / "run");
  REQUIRE(folder);
  REQUIRE(folder->write("v1/file", "x"));
  std::atomic<bool> over = false;
  std::jthread swapper([&] {
    const auto own = place / "run" / "v1";
    while (!over) {
      std::error_code ignored;
      fs::rename(own, place / "run" / "aside", ignored);
      fs::create_directory_symlink(place / "outside", own, ignored);
      fs::remove(own, ignored);
      fs::rename(place / "run" / "aside", own, ignored);
    }
  });

  int written = 0;
  for (int i = 0; i < 300 || (written == 0 && i < 100'000); ++i)
    written += folder->write("v1/file", "y") ? 1 : 0;
  over = true;
  swapper.join();

  CHECK(written > 0);
  CHECK(fs::is_empty(place / "outside"));
}

TEST_CASE("a private folder is made, and one that is ours is closed to others", "[beneath]") {
  const test::TempFolder place;
  const auto mode = [](const fs::path& path) {
    struct stat info{};
    ::stat(path.c_str(), &info);
    return info.st_mode & 07777U;
  };

  REQUIRE(make_private_folder(place / "a" / "state"));
  CHECK(mode(place / "a" / "state") == 0700);
  // As older versions left it where the folder existed before.
  REQUIRE(::chmod((place / "a" / "state").c_str(), 0755) == 0);
  REQUIRE(make_private_folder(place / "a" / "state"));
  CHECK(mode(place / "a" / "state") == 0700);
}

TEST_CASE("a private folder of others, or one that they could write or point elsewhere, is refused",
          "[beneath]") {
  const test::TempFolder place;
  const auto refused = [](const fs::path& path, const std::string& why) {
    const auto status = make_private_folder(path);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::not_permitted);
    CHECK(status.error().message.find(why) != std::string::npos);
    CHECK(status.error().hint.find("--state-dir") != std::string::npos);
  };
  fs::create_directories(place / "open");
  REQUIRE(::chmod((place / "open").c_str(), 0777) == 0);
  refused(place / "open", "written by others");
  fs::create_directories(place / "real");
  fs::create_directory_symlink(place / "real", place / "link");
  refused(place / "link", "symbolic link");
  if (::geteuid() != 0) return refused("/", "belongs to user 0");
  fs::create_directories(place / "foreign");
  REQUIRE(::chown((place / "foreign").c_str(), 65534, 65534) == 0);
  refused(place / "foreign", "belongs to user 65534");
}

}  // namespace
}  // namespace ratchet
