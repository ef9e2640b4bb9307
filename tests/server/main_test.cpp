// The built program: how it ends while work is running, and its command line.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/sanitized.h"
#include "tests/support/stdio_program.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

const fs::path& program() {
  static const fs::path path = build_dir() / "bin" / "ratchet";
  return path;
}

/// Gone, or a zombie that its parent has not reaped yet.
bool dead(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return true;
  const auto close = line.rfind(')');
  return close == std::string::npos || line.substr(close + 2, 1) == "Z";
}

template <class Condition>
bool comes_true(Condition condition) {
  for (int tries = 0; tries < 3000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

/// A server on stdio, started by a shell, running a job whose compiler never ends and has a child
/// in a session of its own.
class BusyServer {
 public:
  BusyServer() {
    put_compiler();
    const std::string serve =
        "exec 3<&0; \"$0\" serve --state-dir \"$1/state\" --root \"$1\" <&3 & "
        "echo $! > \"$1/server\"; exec 3<&-; wait";
    shell_.emplace(
        ProcessSpec{.argv = {"/bin/sh", "-c", serve, program().string(), folder_.path().string()},
                    .environment = environment()});
    start_job();
  }

  void close_input() { shell_->close_input(); }
  void kill_parent() const { ::kill(shell_->pid(), SIGKILL); }
  /// The server, the compiler and the compiler's child.
  [[nodiscard]] bool all_dead() const {
    return dead(pid_in("server")) && dead(pid_in("compiler")) && dead(pid_in("child"));
  }

 private:
  /// The fake compiler first in PATH, and what the program's own libraries need.
  [[nodiscard]] std::vector<std::string> environment() const {
    auto words = inherited_environment({"LD_LIBRARY_PATH"});
    words.push_back("PATH=" + folder_.path().string() + ":/usr/bin:/bin");
    words.emplace_back("HOME=/nowhere");
    return words;
  }

  void put_compiler() const {
    const fs::path path = folder_ / "g++";
    std::ofstream(path) << "#!/bin/sh\n"
                           "setsid sh -c 'echo $$ > \"$0/child.new\"; mv \"$0/child.new\" "
                           "\"$0/child\"; exec sleep 600' \"${0%/*}\" &\n"
                           "echo $$ > \"${0%/*}/compiler\"\n"
                           "exec sleep 600\n";
    fs::permissions(path, fs::perms::owner_all);
  }

  void start_job() {
    shell_->send({{"jsonrpc", "2.0"},
                  {"id", 1},
                  {"method", "tools/call"},
                  {"params",
                   {{"name", "create_run"},
                    {"arguments",
                     {{"problem", "vector_add"},
                      {"implementation", "host-cpp"},
                      {"output_dir", (folder_ / "out").string()},
                      {"wait_s", 0}}}}}});
    const Json answer = shell_->receive();
    INFO(answer.dump());
    REQUIRE(answer.at("result").at("structuredContent").contains("job"));
    REQUIRE(comes_true([&] { return fs::exists(folder_ / "child"); }));
  }

  [[nodiscard]] pid_t pid_in(const std::string& file) const {
    pid_t pid = 0;
    std::ifstream(folder_ / file) >> pid;
    REQUIRE(pid > 0);
    return pid;
  }

  TempFolder folder_;
  std::optional<StdioProgram> shell_;
};

TEST_CASE("a command ends as soon as it has answered", "[process]") {
  if (kSanitized) SKIP("a sanitized program takes longer");
  const TempFolder folder;
  auto shortest = std::chrono::nanoseconds::max();
  for (int i = 0; i < 10; ++i) {
    const auto done = run_program(
        {.argv = {program().string(), "--state-dir", (folder / "state").string(), "head"},
         .environment = inherited_environment({"PATH", "HOME", "LD_LIBRARY_PATH"}),
         .folder = folder.path()},
        60s);
    REQUIRE(done);
    CHECK(done->status.clean());
    shortest = std::min(shortest, done->elapsed);
  }
  CHECK(shortest < 95ms);  // who waits for signals must not sleep, say, a tenth of a second
}

TEST_CASE("when the input ends, the server, its job and all their descendants end", "[end][slow]") {
  BusyServer busy;
  CHECK_FALSE(busy.all_dead());

  busy.close_input();

  CHECK(comes_true([&] { return busy.all_dead(); }));
}

TEST_CASE("when the parent is killed, the server, its job and all their descendants end",
          "[end][slow]") {
  BusyServer busy;

  busy.kill_parent();

  CHECK(comes_true([&] { return busy.all_dead(); }));
}

/// The output of a command, which must exit with `code`.
std::string printed(const TempFolder& folder, std::vector<std::string> words, int code = 0) {
  words.insert(words.begin(), {program().string(), "--state-dir", (folder / "state").string()});
  const auto ran = run_program(
      {.argv = words, .environment = inherited_environment({"PATH", "LD_LIBRARY_PATH"})}, 60s);
  REQUIRE(ran);
  INFO(ran->out << ran->err);
  CHECK(ran->status.code == code);
  return code == 0 ? ran->out : ran->err;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the knowledge base is filled, searched and emptied from the command line", "[cli]") {
  const TempFolder folder;
  const auto pages = source_dir() / "tests" / "kbs" / "fixtures";

  CHECK(has(printed(folder, {"kbs", "stats"}), "nothing has been added yet"));
  CHECK(has(printed(folder, {"kbs", "add", pages.string(), "--name", "mine"}), "corpus: mine"));
  CHECK(Json::parse(printed(folder, {"kbs", "--json", "stats"}))
            .at("user")
            .at("corpora")
            .at(0)
            .at("name") == "mine");
  CHECK(has(printed(folder, {"kbs", "doctor"}), "healthy=true"));
  CHECK(has(printed(folder, {"kbs", "query", "copy tuning"}), "blog-copy-tuning"));
  CHECK(has(printed(folder, {"kbs", "get", "blog-copy-tuning"}), "id: blog-copy-tuning"));
  CHECK(has(printed(folder, {"kbs", "grep", "[Cc]opy"}), "hits:"));
  CHECK(has(printed(folder, {"kbs", "remove", "mine"}), "corpus: mine"));
  CHECK(has(printed(folder, {"kbs", "remove", "mine"}, 1), "not_found"));
}

TEST_CASE("a folder with names that are no text is described as JSON", "[cli]") {
  const TempFolder folder;
  fs::create_directories(folder / "v0");
  REQUIRE(write_file(folder / "v0/\xff.cu", "int a;\n"));

  const auto report = Json::parse(printed(folder, {"import", "--json", folder.path().string()}));
  CHECK(has(report.at("versions").at(0).at("kernel"), "v0/"));
}

TEST_CASE("a run records the version of the program", "[cli][slow]") {
  const TempFolder folder;
  const auto output = folder / "run";
  const Json arguments{{"problem", "vector_add"},
                       {"implementation", "host-cpp"},
                       {"dims", {{"n", 1000}}},
                       {"output_dir", output.string()}};
  const auto all = printed(folder, {"--version"});
  const auto version = all.substr(8, all.find('\n') - 7);  // "ratchet 0.1.0\nbuilt with …"

  printed(folder, {"--root", folder.path().string(), "call", "create_run", arguments.dump()});

  const auto environment = read_file(output / "env_check.md");
  REQUIRE(environment);
  CHECK(has(*environment, "- ratchet: " + version));
}

TEST_CASE("a state folder that others could have filled is refused, with a way on", "[cli]") {
  const TempFolder folder;
  fs::create_directories(folder / "state");
  fs::permissions(folder / "state", fs::perms::all);

  const auto refusal = printed(folder, {"kbs", "stats"}, 1);

  CHECK(has(refusal, "written by others"));
  CHECK(has(refusal, "chmod 700"));
  fs::permissions(folder / "state", fs::perms::owner_all);
  printed(folder, {"kbs", "stats"});
}

TEST_CASE("over HTTP, a token must be given and good, or its absence asked for", "[cli]") {
  const TempFolder folder;
  const auto file = folder / "token";
  const auto refused = [&](const std::string& token, fs::perms mode) {
    REQUIRE(write_file(file, token));
    fs::permissions(file, mode);
    return printed(folder, {"serve", "--http", "0", "--token-file", file.string()}, 1);
  };
  const auto own = fs::perms::owner_read | fs::perms::owner_write;

  CHECK(has(printed(folder, {"serve", "--http", "0"}, 1), "--no-auth"));
  CHECK(has(refused("", own), "0 characters"));
  CHECK(has(refused(" \n", own), "0 characters"));
  CHECK(has(refused("0123456789abcde\n", own), "at least 16"));
  CHECK(has(refused("0123456789abcdef\n", own | fs::perms::group_read), "chmod 600"));
  CHECK(has(printed(folder, {"serve", "--http", "0", "--token-file", "/none"}, 1), "/none"));
  CHECK(has(printed(folder, {"serve", "--http", "0.0.0.0:0", "--no-auth"}, 1), "other machines"));
}

TEST_CASE("an unknown word of the command line is refused with the nearest one", "[cli]") {
  const TempFolder folder;
  const auto refused = [&](const std::vector<std::string>& arguments, int status = 2) {
    return printed(folder, arguments, status);
  };

  CHECK(has(refused({"srve"}), "there is no command \"srve\". Did you mean serve?"));
  CHECK(has(refused({"srve", "--help"}), "Did you mean serve?"));
  CHECK(
      has(refused({"kbs", "quer", "words"}),
          "ratchet kbs: there is no command \"quer\". Did you mean query? The commands are add,"));
  CHECK(has(refused({"serve", "--toolsets", "loop,analisys"}),
            "there is no toolset \"analisys\". Did you mean analysis? The toolsets are loop, kbs"));
  CHECK(has(refused({"runs", "--limt", "3"}), "there is no option --limt. Did you mean --limit?"));
  CHECK(has(refused({"--sate-dir=x", "runs"}), "no option --sate-dir. Did you mean --state-dir?"));
  CHECK(
      has(refused({"call", "qury_kbs"}, 1), "there is no tool qury_kbs\nDid you mean query_kbs?"));
  CHECK(has(refused({"setup", "cursr"}, 1), "but not cursr. Did you mean cursor?"));
  // A word that is like none gets no guess.
  CHECK(has(refused({"xylophone"}), "there is no command \"xylophone\". The commands are serve,"));
}

TEST_CASE("the exit status is the one that docs/install.md lists", "[cli]") {
  using CommandLines = std::vector<std::vector<std::string>>;
  const TempFolder folder;
  for (const auto& done : CommandLines{{"runs"},
                                       {"head"},
                                       {"audit"},
                                       {"kbs", "stats"},
                                       {"kbs", "doctor"},
                                       {"gc", "--dry-run"},
                                       {"--version"},
                                       {"serve"}})  // whose input has ended
    printed(folder, done, 0);
  for (const auto& refused : CommandLines{{"show", "nosuch"},
                                          {"audit", "nosuch"},
                                          {"kbs", "get", "nosuch"},
                                          {"kbs", "remove", "nosuch"},
                                          {"call", "run_status", R"({"run": "nosuch"})"},
                                          {"call", "check_env", "{"},
                                          {"import", "/nowhere"},
                                          {"gc", "--quota", "1"},
                                          {"setup", "cursor", "--undo"}})
    printed(folder, refused, 1);
  for (const auto& wrong : CommandLines{{},
                                        {"kbs"},
                                        {"show"},
                                        {"nosuch"},
                                        {"runs", "--nosuch"},
                                        {"gc", "--quota", "much"},
                                        {"serve", "--toolsets", "nosuch"}})
    printed(folder, wrong, 2);
}

TEST_CASE("an incomplete command line says what is missing", "[cli]") {
  const TempFolder folder;

  CHECK(has(printed(folder, {}, 2), "ratchet: a command is missing. The commands are serve, "));
  CHECK(
      has(printed(folder, {"kbs"}, 2), "ratchet kbs: a command is missing. The commands are add,"));
  CHECK(has(printed(folder, {"show"}, 2), "ratchet show: run is required"));
  CHECK(has(printed(folder, {"kbs", "query"}, 2), "`ratchet kbs query --help` describes it."));
  CHECK(has(printed(folder, {"runs", "--limit", "many"}, 2), "--limit"));
  CHECK(has(printed(folder, {"docs", "--repository", folder.path().string()}, 1),
            "is not the source tree of ratchet"));
  CHECK(has(printed(folder, {"kbs", "add", (folder / "none").string()}, 1), "not_found: folder"));
}

}  // namespace
}  // namespace ratchet::test
