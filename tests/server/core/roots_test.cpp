#include "server/core/roots.h"

#include <catch2/catch_test_macros.hpp>

#include "server/core/files.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLimit = 100;

/// A root `in` with the server's folders in it, and a neighbor.
struct Place {
  test::TempFolder folder;
  fs::path in = folder / "in";

  Place() {
    for (const auto& file :
         {in / "kernel.cu", in / "deep" / "kernel.cu", in / "state" / "key",
          in / "data" / "problem", folder / "out" / "secret", folder / "inside-by-name" / "secret"})
      REQUIRE(write_file(file, file.filename().string()));
  }
  [[nodiscard]] Roots roots(bool hold_outputs = true) const {
    auto opened = Roots::open(
        {.roots = {in}, .state = in / "state", .data = in / "data", .hold_outputs = hold_outputs});
    REQUIRE(opened);
    return *std::move(opened);
  }
};

TEST_CASE("a file is read only where it resolves to a place inside a root", "[roots]") {
  const Place place;
  const Roots roots = place.roots();
  fs::create_symlink(place.folder / "out" / "secret", place.in / "link");
  const auto code = [&](const fs::path& path) { return roots.read(path, kLimit).error().code; };

  CHECK(roots.read(place.in / "kernel.cu", kLimit)->bytes == "kernel.cu");
  CHECK(code(place.in / ".." / "out" / "secret") == ErrorCode::not_permitted);
  CHECK(code(place.in / "link") == ErrorCode::not_permitted);
  CHECK(code(place.folder / "inside-by-name" / "secret") == ErrorCode::not_permitted);
  CHECK(code(place.in / "none") == ErrorCode::not_found);
  CHECK(code(place.in) == ErrorCode::invalid_argument);
  CHECK(roots.read(place.in / "kernel.cu", 3).error().code == ErrorCode::too_large);
}

TEST_CASE("links that lead to a place inside a root are followed", "[roots]") {
  const Place place;
  const Roots roots = place.roots();
  fs::create_symlink(place.in / "deep" / "kernel.cu", place.in / "absolute");
  fs::create_symlink("deep/kernel.cu", place.in / "relative");
  fs::create_directory_symlink(place.in, place.folder / "way-in");

  for (const auto& path : {place.in / "absolute", place.in / "relative",
                           place.folder / "way-in" / "deep" / "kernel.cu"}) {
    const auto file = roots.read(path, kLimit);
    REQUIRE(file);
    CHECK(file->path == fs::canonical(place.in / "deep" / "kernel.cu"));
  }
}

TEST_CASE("no file of the server's state is read, though a root holds it", "[roots]") {
  const Place place;
  const auto refused = place.roots().read(place.in / "state" / "key", kLimit);

  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::not_permitted);
  CHECK(place.roots().read(place.in / "data" / "problem", kLimit));
}

TEST_CASE("a run's folder must come to lie inside a root", "[roots]") {
  const Place place;
  const Roots roots = place.roots();
  fs::create_directory_symlink(place.folder / "out", place.in / "link");
  const auto refused = [&](const fs::path& path) {
    const auto folder = roots.output_folder(path);
    REQUIRE_FALSE(folder);
    CHECK(folder.error().code == ErrorCode::not_permitted);
    CHECK(folder.error().hint.find("--root") != std::string::npos);
  };

  CHECK(*roots.output_folder(place.in / "new" / "run") == fs::canonical(place.in) / "new/run");
  CHECK(roots.output_folder(place.in / "deep" / ""));
  refused(place.folder / "out" / "run");
  refused(place.in / "link" / "run");
  refused(place.in / "none" / ".." / ".." / "run");
  refused("/");
  // Where nobody named roots, a local client may choose.
  CHECK(place.roots(false).output_folder(place.folder / "out" / "run"));
}

TEST_CASE("a run's folder is never, holds never and lies never in the server's own folders",
          "[roots]") {
  const Place place;
  for (const bool hold : {true, false})
    for (const auto& path : {place.in, place.in / "state", place.in / "state" / "deep",
                             place.in / "data", place.in / "data" / "new"}) {
      const auto folder = place.roots(hold).output_folder(path);
      INFO(path);
      REQUIRE_FALSE(folder);
      CHECK(folder.error().code == ErrorCode::not_permitted);
    }
  CHECK(place.roots().output_folder(place.in / "state-of-mine"));
}

TEST_CASE("a root that does not exist is named", "[roots]") {
  const auto opened = Roots::open({.roots = {"/none/such"}, .state = {}, .data = {}});

  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find("/none/such") != std::string::npos);
}

}  // namespace
}  // namespace ratchet
