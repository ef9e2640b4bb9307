// `ratchet gc` and the disk quota of the built program, on a run that really happened.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <set>

#include "kernels/process/private_folder.h"
#include "server/core/fields.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A state folder with one run, and the program on it.
class CollectedState {
 public:
  CollectedState() {
    fs::create_directory(folder_ / "tmp");
    const Json created =
        Json::parse(ran({"call", "--json", "create_run", arguments("out").dump()}).out);
    run_ = created.at("run");
  }

  [[nodiscard]] Json arguments(const std::string& output) const {
    return {{"problem", "vector_add"},
            {"implementation", "host-cpp"},
            {"dims", {{"n", 1000}}},
            {"output_dir", (folder_ / output).string()}};
  }

  /// The program with these words; it must exit with `code`.
  Captured ran(std::vector<std::string> words, int code = 0) const {
    words.insert(words.begin(), {(build_dir() / "bin" / "ratchet").string(), "--state-dir",
                                 (folder_ / "state").string(), "--root", folder_.path().string()});
    return output(words, code);
  }
  /// All that it prints.
  std::string says(std::vector<std::string> words, int code = 0) const {
    const auto captured = ran(std::move(words), code);
    return captured.out + captured.err;
  }

  /// The answer of a server with this quota to a call of create_run.
  [[nodiscard]] std::string served(const std::string& quota, const std::string& output_dir) const {
    const Json call{{"jsonrpc", "2.0"},
                    {"id", 1},
                    {"method", "tools/call"},
                    {"params", {{"name", "create_run"}, {"arguments", arguments(output_dir)}}}};
    return output({"sh", "-c", R"((printf '%s\n' "$0"; sleep 8) | "$@")", call.dump(),
                   (build_dir() / "bin" / "ratchet").string(), "serve", "--state-dir",
                   (folder_ / "state").string(), "--root", folder_.path().string(), "--disk-quota",
                   quota},
                  0)
        .out;
  }

  /// As if nothing had been built for an hour.
  void grow_old() const {
    for (const auto& entry : fs::recursive_directory_iterator(builds() / "entries"))
      if (entry.is_regular_file())
        fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - 1h);
  }

  [[nodiscard]] std::size_t entries() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(builds()))
      count += entry.path().filename() == "library.so" ? 1 : 0;
    return count;
  }

  void check_intact() const { CHECK(says({"audit"}).find("intact: true") != std::string::npos); }

  [[nodiscard]] fs::path builds() const { return folder_ / "state" / "builds"; }
  [[nodiscard]] fs::path temporary() const { return folder_ / "tmp"; }
  [[nodiscard]] const std::string& run() const { return run_; }

 private:
  [[nodiscard]] Captured output(std::vector<std::string> argv, int code) const {
    auto environment = inherited_environment({"PATH", "HOME", "LD_LIBRARY_PATH"});
    environment.push_back("TMPDIR=" + temporary().string());
    const auto ended = run_program({.argv = std::move(argv), .environment = environment}, 60s);
    REQUIRE(ended);
    INFO(ended->out << ended->err);
    CHECK(ended->status.code == code);
    return *ended;
  }

  TempFolder folder_;
  std::string run_;
};

TEST_CASE("gc removes old builds that no open run needs, and what killed servers left",
          "[gc][slow]") {
  const CollectedState state;
  auto left = PrivateFolder::make_in(state.builds() / "work");
  REQUIRE(left);
  auto lost = fs::path(left->path().string() + "x");
  fs::create_directory(lost);  // of the same kind of name, and nobody holds it
  REQUIRE(state.entries() > 1);
  state.grow_old();
  state.check_intact();

  const auto told = state.says({"gc", "--dry-run"});
  CHECK(told.find("would remove builds: ") != std::string::npos);
  CHECK(fs::exists(lost));

  state.says({"gc"});

  CHECK_FALSE(fs::exists(lost));
  CHECK(fs::exists(left->path()));
  CHECK(state.entries() == 1);  // the version's; the reference and control answers are gone
  state.check_intact();
}

TEST_CASE("a run goes on after all builds were removed, with the binaries it had", "[gc][slow]") {
  const CollectedState state;
  fs::remove_all(state.builds());

  const auto checked = state.says({"call", "check_correctness", Json{{"run", state.run()}}.dump()});

  CHECK(checked.find("passed: true") != std::string::npos);
  state.check_intact();
}

TEST_CASE("a server above its quota refuses new runs, keeps the old ones and says what to do",
          "[gc][slow]") {
  const CollectedState state;

  const auto refused = state.served("4K", "refused");

  CHECK(refused.find("disk quota") != std::string::npos);
  CHECK(refused.find("may take 4.0 KiB") != std::string::npos);
  CHECK(refused.find("ratchet gc") != std::string::npos);
  CHECK(state.says({"call", "list_runs"}).find(state.run()) != std::string::npos);
  state.check_intact();
  CHECK(state.served("1G", "accepted").find("\"isError\":true") == std::string::npos);
}

TEST_CASE("a quota that is no size is refused before anything starts", "[gc][slow]") {
  const CollectedState state;

  CHECK(state.says({"gc", "--quota", "much"}, 2).find("K, M, G or T") != std::string::npos);
  CHECK(state.says({"serve", "--disk-quota", "-3"}, 2).find("K, M, G or T") != std::string::npos);
}

TEST_CASE("doctor reports the space that each part of the state folder takes", "[gc][slow]") {
  const CollectedState state;

  const auto storage = Json::parse(state.ran({"doctor", "--json"}).out).at("storage");

  CHECK(storage.at("bytes") > 0);
  std::set<std::string> names;
  for (const auto& store : storage.at("stores")) names.insert(store.at("name"));
  CHECK(names.contains("builds"));
  CHECK(names.contains("ledger"));
}

}  // namespace
}  // namespace ratchet::test
