#include "kernels/process/private_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

std::size_t folders_in(const fs::path& parent) {
  const fs::directory_iterator all(parent);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// A process that makes a folder with a file in it, and is killed.
void leave_a_folder(const fs::path& parent) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto folder = PrivateFolder::make_in(parent);
    std::ofstream(folder->path() / "file") << std::string(5000, 'x');
    ::raise(SIGKILL);
  }
  int how = 0;
  ::waitpid(child, &how, 0);
  REQUIRE(WIFSIGNALED(how));
}

TEST_CASE("the folder of a killed process is removed, that of a living one stays",
          "[process][storage]") {
  const test::TempFolder parent;
  leave_a_folder(parent.path());
  const auto held = PrivateFolder::make_in(parent.path());
  REQUIRE(held);
  REQUIRE(folders_in(parent.path()) == 2);

  CHECK(remove_abandoned(parent.path(), true).files == 1);
  CHECK(folders_in(parent.path()) == 2);  // a dry run

  const auto removed = remove_abandoned(parent.path(), false);

  CHECK(removed.files == 1);
  CHECK(removed.bytes >= 5000);
  CHECK(folders_in(parent.path()) == 1);
  CHECK(fs::exists(held->path()));
}

TEST_CASE("only folders of such a name go: no file, no link and nothing of another program",
          "[process][storage]") {
  const test::TempFolder parent;
  const test::TempFolder elsewhere;
  std::ofstream(elsewhere / "precious") << "text";
  fs::create_directory(parent / "ratchet-XyZ123");  // of an older server, which held no lock
  fs::create_directory(parent / "other");
  fs::create_directory_symlink(elsewhere.path(), parent / "ratchet-held-link");
  std::ofstream(parent / "ratchet-held-file") << "text";

  CHECK(remove_abandoned(parent.path(), false).files == 0);

  CHECK(folders_in(parent.path()) == 4);
  CHECK(fs::exists(elsewhere / "precious"));
}

TEST_CASE("a moved private folder is held by its new owner until that ends", "[process][storage]") {
  const test::TempFolder parent;
  {
    auto made = PrivateFolder::make_in(parent.path());
    REQUIRE(made);
    const PrivateFolder owner = *std::move(made);
    (void)remove_abandoned(parent.path(), false);
    CHECK(fs::exists(owner.path()));
  }
  CHECK(folders_in(parent.path()) == 0);
}

}  // namespace
}  // namespace ratchet
