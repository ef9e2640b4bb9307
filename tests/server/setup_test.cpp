// `ratchet setup`, through the built program: what becomes of clients' files.

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kClaude = ".claude.json";
constexpr const char* kCodex = ".codex/config.toml";
constexpr const char* kCursor = ".cursor/mcp.json";
constexpr const char* kProject = "project/.vscode/mcp.json";

/// A home folder with a project in it, whose owner has no clients in PATH.
class Home {
 public:
  Home() { fs::create_directories(project()); }

  [[nodiscard]] fs::path project() const { return folder_ / "project"; }
  [[nodiscard]] fs::path operator/(const fs::path& name) const { return folder_ / name; }
  void put(const fs::path& name, const std::string& text) const {
    REQUIRE(write_file(folder_ / name, text));
  }
  [[nodiscard]] std::string text(const fs::path& name) const {
    return read_file(folder_ / name).value_or("(none)");
  }
  [[nodiscard]] std::vector<fs::path> contents() const {
    std::vector<fs::path> all;
    for (const auto& one : fs::recursive_directory_iterator(folder_.path()))
      if (one.path().string().find("/state") == std::string::npos) all.push_back(one.path());
    return all;
  }

  [[nodiscard]] Captured setup(std::vector<std::string> arguments,
                               std::vector<std::string> before = {}) const {
    auto environment = inherited_environment({"LD_LIBRARY_PATH"});
    environment.push_back("PATH=/usr/bin:/bin");
    environment.push_back("HOME=" + folder_.path().string());
    environment.push_back("XDG_STATE_HOME=" + (folder_ / "state").string());
    auto argv = std::move(before);
    argv.insert(argv.end(), {(build_dir() / "bin/ratchet").string(), "setup"});
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    auto done = run_program({.argv = argv, .environment = environment, .folder = project()}, 120s);
    REQUIRE(done);
    return *std::move(done);
  }
  void succeeds(const std::vector<std::string>& arguments) const {
    const auto done = setup(arguments);
    INFO(done.out << done.err);
    CHECK(done.status.clean());
  }
  [[nodiscard]] std::string refusal(const std::vector<std::string>& arguments) const {
    const auto done = setup(arguments);
    INFO(done.out << done.err);
    CHECK(done.status.code == 1);
    CHECK(done.out.empty());
    return done.err;
  }

 private:
  TempFolder folder_;
};

TEST_CASE("setup connects a client whose server answers, and undoes every byte of it",
          "[setup][slow]") {
  const auto [client, file, before, place] = GENERATE(
      std::tuple{"claude", kClaude, "{\"numStartups\":3,\"projects\":{}}", "/mcpServers/ratchet"},
      std::tuple{"cursor", kCursor, "{\n  // mine\n  \"mcpServers\": {\"a\": {\"url\": \"u\"}}\n}",
                 "/mcpServers/ratchet"},
      std::tuple{"vscode", kProject, "{\n\t\"servers\": {\n\t\t\"a\": {},\n\t},\n}\n",
                 "/servers/ratchet"},
      std::tuple{"codex", kCodex, "model = \"x\" # best\n\n[mcp_servers.a]\ncommand = \"b\"", ""});
  const Home home;
  home.put(file, before);
  REQUIRE(::chmod((home / file).c_str(), 0640) == 0);

  const auto done = home.setup({client, "--json"});
  INFO(done.out << done.err);
  REQUIRE(done.status.clean());
  const Json report = Json::parse(done.out);
  CHECK(report["done"] == "added");
  CHECK(report["tools"].get<int>() > 20);
  const auto written = home.text(file);
  if (*place != '\0') {
    std::string plain = written;  // without the comment and commas that nlohmann does not read
    for (const std::string odd : {",\n\t},\n}"})
      if (const auto at = plain.find(odd); at != std::string::npos)
        plain.replace(at, odd.size(), "}}");
    const Json entry = Json::parse(plain, nullptr, true, true).at(Json::json_pointer(place));
    CHECK(entry["command"] == (build_dir() / "bin/ratchet").string());
    CHECK(entry["type"] == "stdio");
    CHECK(entry["args"].dump().find("\"--python\",\"/usr/bin/python3\"") != std::string::npos);
    CHECK(entry.contains("timeout") == (std::string(client) == "claude"));
  } else {
    CHECK(written.find("[mcp_servers.ratchet]\n") != std::string::npos);
    CHECK(written.find("startup_timeout_sec = 60\n") != std::string::npos);
    CHECK(written.find("tool_timeout_sec = 3660\n") != std::string::npos);
  }

  home.succeeds({client});  // a second time changes nothing
  CHECK(home.text(file) == written);
  home.succeeds({client, "--root", home.project()});
  CHECK(home.text(file) != written);
  CHECK(fs::status(home / file).permissions() == static_cast<fs::perms>(0640));

  home.succeeds({client, "--undo"});
  CHECK(home.text(file) == before);
  CHECK(home.refusal({client, "--undo"}).find("setup has put no server \"ratchet\"") !=
        std::string::npos);
}

TEST_CASE("setup makes the files and folders that are missing, and undo removes them", "[setup]") {
  const std::string client = GENERATE("claude", "codex", "cursor", "vscode");
  const Home home;
  const auto before = home.contents();

  home.succeeds({client});
  CHECK(home.contents().size() > before.size());
  home.succeeds({client, "--undo"});
  CHECK(home.contents() == before);
}

TEST_CASE("setup --print writes nothing", "[setup]") {
  const Home home;
  home.put(kCursor, "not JSON");
  const auto before = home.contents();
  const auto done = home.setup({"cursor", "--print"});
  CHECK(Json::parse(done.out)["mcpServers"]["ratchet"]["args"][0] == "serve");
  CHECK(home.contents() == before);
  CHECK_FALSE(fs::exists(home / "state"));
}

TEST_CASE("a file that cannot be read is refused with its place and left alone", "[setup]") {
  const auto [client, file, text, message] = GENERATE(
      std::tuple{"claude", kClaude, "{\"a\": 1,\n oops}", "line 2, column 2: expected a name"},
      std::tuple{"claude", kClaude, "{} // note", "line 1, column 4: a comment"},
      std::tuple{"codex", kCodex, "a = 1\n[mcp_servers\n", "line 2, column 13: expected ]"},
      std::tuple{"vscode", kProject, "servers: {}", "line 1, column 1: "});
  const Home home;
  home.put(file, text);
  const auto refusal = home.refusal({client});
  INFO(refusal);
  CHECK(refusal.find(std::string(file) + ": " + message) != std::string::npos);
  CHECK(home.text(file) == text);
}

TEST_CASE("a server of the same name that setup did not write is shown and kept", "[setup]") {
  const Home home;
  const std::string text = "{\"mcpServers\": {\"ratchet\": {\"command\": \"/theirs\"}}}";
  home.put(kClaude, text);

  const auto refusal = home.refusal({"claude"});
  CHECK(refusal.find("has a server \"ratchet\" that setup did not write:\n"
                     "{\"command\": \"/theirs\"}") != std::string::npos);
  CHECK(refusal.find("--name NAME") != std::string::npos);
  CHECK(home.refusal({"claude", "--undo"}).find("no server") != std::string::npos);
  CHECK(home.text(kClaude) == text);

  home.succeeds({"claude", "--name", "ratchet-2"});
  home.succeeds({"claude", "--name", "ratchet-2", "--undo"});
  CHECK(home.text(kClaude) == text);
}

TEST_CASE("undo takes out an entry that its client has written anew, and no other", "[setup]") {
  const Home home;
  home.put(kClaude, "{}");
  home.succeeds({"claude"});
  Json rewritten = Json::parse(home.text(kClaude));
  rewritten["numStartups"] = 7;
  home.put(kClaude, rewritten.dump(1));
  home.succeeds({"claude", "--undo"});
  CHECK(Json::parse(home.text(kClaude)) == Json{{"numStartups", 7}});

  home.succeeds({"claude"});
  Json replaced = Json::parse(home.text(kClaude));
  replaced["mcpServers"]["ratchet"]["command"] = "/theirs";
  home.put(kClaude, replaced.dump());
  CHECK(home.refusal({"claude", "--undo"}).find("was changed after setup wrote it") !=
        std::string::npos);
  CHECK(Json::parse(home.text(kClaude)) == replaced);
}

TEST_CASE("a linked file stays a link, and a project's link must not lead out of it", "[setup]") {
  const Home home;
  home.put("dotfiles/mcp.json", "{}\n");
  fs::create_directories(home / ".cursor");
  fs::create_symlink("../dotfiles/mcp.json", home / kCursor);
  home.succeeds({"cursor"});
  CHECK(fs::is_symlink(home / kCursor));
  CHECK(home.text("dotfiles/mcp.json").find("ratchet") != std::string::npos);
  home.succeeds({"cursor", "--undo"});
  CHECK(home.text("dotfiles/mcp.json") == "{}\n");

  fs::create_directories(home.project() / ".vscode");
  fs::create_symlink("../../dotfiles/mcp.json", home / kProject);
  CHECK(home.refusal({"vscode"}).find("outside this folder") != std::string::npos);
  CHECK(home.text("dotfiles/mcp.json") == "{}\n");

  fs::remove(home / kCursor);
  fs::create_symlink("nowhere.json", home / kCursor);
  CHECK(home.refusal({"cursor"}).find("a symbolic link to a file that does not exist") !=
        std::string::npos);
}

TEST_CASE("a server that does not answer is not put into a file", "[setup]") {
  const Home home;
  CHECK(home.refusal({"cursor", "--root", "/nowhere"}).find("/nowhere") != std::string::npos);
  CHECK_FALSE(fs::exists(home / ".cursor"));
}

// The superuser may write anywhere, so that another user tries.
TEST_CASE("in a home that cannot be written setup says so and how to go on", "[setup]") {
  if (::geteuid() != 0) SKIP("needs root, to become another user");
  const Home home;
  fs::permissions(home / "", fs::perms::others_read | fs::perms::others_exec,
                  fs::perm_options::add);
  const std::vector<std::string> nobody{"setpriv", "--reuid=65534", "--regid=65534",
                                        "--clear-groups"};
  fs::create_directory(home / "open");
  fs::permissions(home / "open", fs::perms::all);
  const auto done = home.setup({"cursor", "--state-dir", (home / "open/state").string()}, nobody);
  if (done.status.code == 127 || done.err.find("setpriv:") != std::string::npos)
    SKIP("another user cannot run the built program here");
  INFO(done.out << done.err);
  CHECK(done.status.code == 1);
  CHECK(done.err.find("cannot make the folder") != std::string::npos);
  CHECK(done.err.find("--print") != std::string::npos);
  CHECK_FALSE(fs::exists(home / ".cursor"));
}

TEST_CASE("setup names the clients that it knows", "[setup]") {
  const Home home;
  CHECK(home.refusal({"emacs"}).find("claude, codex, cursor and vscode, but not emacs") !=
        std::string::npos);
  CHECK(home.refusal({"claude", "--name", "a b"}).find("--name: clients take letters") !=
        std::string::npos);
}

}  // namespace
}  // namespace ratchet::test
