#include "server/core/storage.h"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>

#include "server/core/files.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t kKiB = 1024;

/// A state folder with caches that were last used so long ago, and a ledger.
struct State {
  test::TempFolder folder;

  void cache(const std::string& name, std::chrono::minutes age, std::size_t bytes = 8 * kKiB) {
    const auto path = folder / "caches" / name;
    REQUIRE(write_file(path / "library.so", std::string(bytes, 'x')));
    fs::last_write_time(path / "library.so", fs::file_time_type::clock::now() - age);
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return fs::exists(folder / "caches" / name);
  }
  [[nodiscard]] Storage storage(std::int64_t quota) const {
    const auto root = folder / "caches";
    return {folder.path(),
            quota,
            {{.name = "builds",
              .measure = [root] { return contents_of(root); },
              .shrink =
                  [root](std::int64_t bytes, bool dry_run) {
                    std::vector<UsedFolder> all;
                    for (const auto& one : fs::directory_iterator(root))
                      all.push_back({one.path(), one.path() / "library.so"});
                    return remove_least_used(std::move(all), bytes, dry_run);
                  }},
             {.name = "ledger",
              .measure = [path = folder / "ledger"] { return FileCount{1, space_of(path)}; }}},
            [](bool) { return FileCount{}; }};
  }
  explicit State(std::size_t ledger_bytes = 4 * kKiB) {
    fs::create_directories(folder / "caches");
    REQUIRE(write_file(folder / "ledger", std::string(ledger_bytes, 'e')));
  }
};

TEST_CASE("above the quota the least recently used builds go, and no more than necessary",
          "[storage]") {
  State state;
  state.cache("oldest", 300min);
  state.cache("middle", 200min);
  state.cache("newest", 100min);

  // Three of 8 KiB and a ledger of 4 KiB: one has to go.
  const auto done = state.storage(20 * kKiB).collect();

  CHECK_FALSE(state.has("oldest"));
  CHECK(state.has("middle"));
  CHECK(state.has("newest"));
  CHECK(done.after.bytes == 20 * kKiB);
  CHECK(state.storage(20 * kKiB).admit());
}

TEST_CASE("what was used within the last minutes is in use and stays", "[storage]") {
  State state;
  state.cache("in use", 1min);
  state.cache("older", 11min);

  (void)state.storage(0).collect(0, false);

  CHECK(state.has("in use"));
  CHECK_FALSE(state.has("older"));
}

TEST_CASE("a time of use far in the future, after a jump of the clock, protects nothing",
          "[storage]") {
  State state;
  state.cache("from tomorrow", -24h);

  (void)state.storage(0).collect(0, false);

  CHECK_FALSE(state.has("from tomorrow"));
}

TEST_CASE("a dry run counts what would go and removes nothing", "[storage]") {
  State state;
  state.cache("old", 60min);

  const auto told = state.storage(0).collect(0, true);

  CHECK(told.parts.back().removed.bytes == 8 * kKiB);
  CHECK(state.has("old"));
}

TEST_CASE("evidence above the quota is kept, and refused work is told what takes the space",
          "[storage]") {
  State state(40 * kKiB);
  state.cache("old", 60min);

  const auto refused = state.storage(20 * kKiB).admit();

  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unavailable);
  CHECK(refused.error().message.find("takes 40.0 KiB and may take 20.0 KiB") != std::string::npos);
  CHECK(refused.error().message.find("ledger 40.0 KiB") != std::string::npos);
  CHECK(refused.error().hint.find("ratchet gc") != std::string::npos);
  CHECK_FALSE(state.has("old"));
  CHECK(fs::file_size(state.folder / "ledger") == 40 * kKiB);
}

TEST_CASE("without a quota nothing is refused and no build removed", "[storage]") {
  State state;
  state.cache("old", 60min);

  (void)state.storage(0).collect();

  CHECK(state.has("old"));
  CHECK(state.storage(0).admit());
}

TEST_CASE("files that no service knows are counted as evidence", "[storage]") {
  State state;
  REQUIRE(write_file(state.folder / "notes", std::string(8 * kKiB, 'n')));

  const auto use = state.storage(0).use();

  CHECK(use.stores.back().name == "other files");
  CHECK(use.stores.back().bytes == 8 * kKiB);
  CHECK(use.stores.back().evidence);
}

TEST_CASE("sizes are read with and without a unit", "[storage]") {
  CHECK(*parse_size("4096") == 4096);
  CHECK(*parse_size("512M") == std::int64_t{512} << 20U);
  CHECK(*parse_size("10G") == std::int64_t{10} << 30U);
  CHECK(*parse_size("0") == 0);
  for (const auto* wrong : {"", "G", "-1", "1X", "1GB", "1.5G", "99999999T"})
    CHECK_FALSE(parse_size(wrong));
  CHECK(size_text(1536) == "1.5 KiB");
  CHECK(size_text(7) == "7 B");
}

}  // namespace
}  // namespace ratchet
