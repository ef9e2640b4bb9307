// What a build cache gives up, and that it is made again.

#include "kernels/build/build_cache.h"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <limits>

#include "kernels/build/builder.h"
#include "server/core/files.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kEverything = std::numeric_limits<std::int64_t>::max();

struct Cached {
  test::TempFolder folder;
  Builder builder = *Builder::open(
      {folder / "cache", [] { return find_toolchain("python3"); }, std::chrono::seconds(60)});

  BuildRecord build(const std::string& factor) const {
    BuildRequest request;
    request.source = {"kernel.cpp",
                      "extern \"C\" void solve(const float* x, float* y, int n) { for (int i = 0; "
                      "i < n; ++i) y[i] = " +
                          factor + " * x[i]; }",
                      ""};
    const auto record = builder.build(request, CallContext());
    REQUIRE(record);
    REQUIRE(record->ok);
    return *record;
  }
  void last_used(const BuildRecord& record, std::chrono::minutes age) const {
    const auto path = builder.path_of(record.build_key);
    REQUIRE(path);
    fs::last_write_time(*path, fs::file_time_type::clock::now() - age);
  }
  [[nodiscard]] bool has(const BuildRecord& record) const {
    return builder.path_of(record.build_key).has_value();
  }
};

TEST_CASE("builds go by last use, except recent ones and those that runs need",
          "[build][storage]") {
  const Cached cached;
  const auto old = cached.build("2");
  const auto needed = cached.build("3");
  const auto recent = cached.build("4");
  cached.last_used(old, 60min);
  cached.last_used(needed, 120min);

  const auto removed = cached.builder.cache().shrink(kEverything, {needed.build_key}, false);

  CHECK(removed.files == 3);  // library, record, and the list that led to them
  CHECK_FALSE(cached.has(old));
  CHECK(cached.has(needed));
  CHECK(cached.has(recent));
  CHECK(cached.builder.cache().contents().files == 6);
}

TEST_CASE("no more builds go than the space that is wanted", "[build][storage]") {
  const Cached cached;
  const auto older = cached.build("2");
  const auto newer = cached.build("3");
  cached.last_used(older, 120min);
  cached.last_used(newer, 60min);

  (void)cached.builder.cache().shrink(1, {}, false);

  CHECK_FALSE(cached.has(older));
  CHECK(cached.has(newer));
}

TEST_CASE("a build that was removed is made again with the same bytes", "[build][storage]") {
  const Cached cached;
  const auto first = cached.build("2");
  cached.last_used(first, 60min);
  (void)cached.builder.cache().shrink(kEverything, {}, false);
  REQUIRE_FALSE(cached.has(first));

  const auto again = cached.build("2");

  CHECK_FALSE(again.cached);
  CHECK(again.binary_digest == first.binary_digest);
  CHECK(again.build_key == first.build_key);
}

TEST_CASE("a lookup counts as a use", "[build][storage]") {
  const Cached cached;
  const auto record = cached.build("2");
  cached.last_used(record, 60min);

  CHECK(cached.build("2").cached);
  (void)cached.builder.cache().shrink(kEverything, {}, false);

  CHECK(cached.has(record));
}

TEST_CASE("a build whose server was killed before it listed it is found again after the next",
          "[build][storage]") {
  const Cached cached;
  const auto record = cached.build("2");
  for (const auto& list : fs::directory_iterator(cached.folder / "cache" / "manifests"))
    fs::remove(list.path());

  CHECK_FALSE(cached.build("2").cached);
  CHECK(cached.build("2").cached);
}

TEST_CASE("an entry of which a killed server left a part is built again", "[build][storage]") {
  const Cached cached;
  const auto record = cached.build("2");
  fs::remove(*cached.builder.path_of(record.build_key));

  CHECK(cached.build("2").binary_digest == record.binary_digest);
}

}  // namespace
}  // namespace ratchet
