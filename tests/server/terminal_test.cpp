// What the commands print at a terminal of 80 columns, and through a pipe.

#include "server/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "server/core/text.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

using namespace std::chrono_literals;

/// A pseudo-terminal of 80 columns and what was written to it.
class Screen {
 public:
  Screen() {
    REQUIRE(main_);
    REQUIRE(::grantpt(main_.get()) == 0);
    REQUIRE(::unlockpt(main_.get()) == 0);
    other_.reset(::open(::ptsname(main_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    const winsize size{24, 80, 0, 0};
    REQUIRE(::ioctl(other_.get(), TIOCSWINSZ, &size) == 0);
  }

  /// Runs the built program with all its output here; returns what it wrote. Once it has written
  /// `until`, it is asked to end.
  std::string shows(const std::vector<std::string>& arguments, const TempFolder& home,
                    int status = 0, const std::vector<std::string>& more = {},
                    const std::string& until = "") {
    auto environment = inherited_environment({"PATH", "LD_LIBRARY_PATH", "RATCHET_PYTHON"});
    environment.push_back("HOME=" + home.path().string());
    environment.push_back("XDG_STATE_HOME=" + (home / "s").string());
    environment.emplace_back("TERM=xterm");
    environment.insert(environment.end(), more.begin(), more.end());
    std::vector<std::string> argv{(build_dir() / "bin/ratchet").string()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    auto process = Process::spawn({.argv = argv,
                                   .environment = environment,
                                   .folder = home.path(),
                                   .descriptors = {{other_.get(), 1}, {other_.get(), 2}}});
    REQUIRE(process);
    std::string seen;
    std::optional<ExitStatus> ended;
    while (!(ended = process->wait_for(20ms))) {
      read_into(seen);
      if (!until.empty() && seen.find(until) != std::string::npos) ::kill(process->pid(), SIGTERM);
    }
    read_into(seen);
    INFO(seen);
    CHECK(ended->code == status);
    return seen;
  }

 private:
  void read_into(std::string& seen) const {
    std::array<char, 4096> chunk{};
    for (ssize_t got = 0; (got = ::read(main_.get(), chunk.data(), chunk.size())) > 0;)
      seen.append(chunk.data(), static_cast<std::size_t>(got));
  }

  Fd main_{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)};
  Fd other_;
};

/// Without the sequences that change colors, and with what was drawn over taken away.
std::string visible(const std::string& seen) {
  std::string out;
  for (std::size_t at = 0; at < seen.size(); ++at) {
    if (seen[at] == '\x1b')
      at = std::min(seen.find_first_of("mK", at), seen.size());
    else if (seen[at] != '\r')
      out += seen[at];
    else if (at + 1 < seen.size() && seen[at + 1] != '\n')  // a terminal ends lines with both
      out.erase(out.rfind('\n') + 1);
  }
  return out;
}

std::size_t length(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Lines that do not fit and could have been broken.
std::vector<std::string> too_long(const std::string& text) {
  std::vector<std::string> found;
  for (const auto line : lines_of(text))
    if (length(line) > 80 && trimmed(line).find(' ') != std::string_view::npos)
      found.emplace_back(line);
  return found;
}

/// What another workflow left: one version with the gate's files.
void put_foreign_tree(const TempFolder& home) {
  REQUIRE(write_file(home / "tree/v0/correctness.md",
                     "# Correctness Check\n\n| Result | ALL PASS |\n|---|---|\n"));
}

/// The commands that a help text lists, by their names.
std::vector<std::string> commands_in(std::string_view help) {
  std::vector<std::string> names;
  bool within = false;
  for (const auto line : lines_of(help)) {
    within = within || lowered(line).starts_with("subcommands:");
    if (within && line.starts_with("  ") && !line.starts_with("   "))
      names.emplace_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST_CASE("the help of every command fits an 80-column terminal", "[terminal]") {
  const TempFolder home;
  Screen screen;
  std::vector<std::vector<std::string>> commands;
  for (const auto& name : commands_in(visible(screen.shows({"--help"}, home))))
    commands.push_back({name});
  for (const auto& name : commands_in(visible(screen.shows({"kbs", "--help"}, home))))
    commands.push_back({"kbs", name});
  CHECK(commands.size() > 18);
  for (auto command : commands) {
    INFO(command.back());
    command.emplace_back("--help");
    CHECK(too_long(visible(screen.shows(command, home))).empty());
  }
}

TEST_CASE("long work shows a bar and the time that is left", "[terminal][slow]") {
  const TempFolder home;
  for (int i = 0; i < 4000; ++i)
    REQUIRE(write_file(home / fmt::format("pages/{}.md", i), "# One\n\nShared memory.\n"));
  Screen screen;
  CHECK(screen.shows({"kbs", "add", "pages"}, home).find(" s left  ") != std::string::npos);
  const auto created = screen.shows({"call", "create_run",
                                     R"({"problem": "softmax", "implementation": "host-cpp",
                                         "dims": {"rows": 512, "cols": 512}, "output_dir": "r"})"},
                                    home);
  CHECK(created.find(" s left  ") != std::string::npos);
}

using Words = std::vector<std::string>;

/// What a person can type of every command that answers without a run or a server, in this order:
/// the knowledge that one adds the next removes. `commands_with_a_run` has the others.
std::vector<Words> commands_without_a_run() {
  return {{"runs"},
          {"doctor"},
          {"audit"},
          {"head"},
          {"gc", "--dry-run"},
          {"gc"},
          {"kbs", "query", "shared memory bank conflicts"},
          {"kbs", "get", "technique-vectorized-access"},
          {"kbs", "grep", "ldmatrix"},
          {"kbs", "stats"},
          {"kbs", "doctor"},
          {"kbs", "add", "pages"},
          {"kbs", "remove", "pages"},
          {"call", "list_methods", "{}"},
          {"call", "check_env", "{}"},
          {"problem", "list"},
          {"problem", "show", "softmax"},
          {"docs", "--repository", source_dir().string()},
          {"import", "tree"},
          {"setup", "claude", "--print"},
          {"setup", "cursor"},
          {"setup", "cursor", "--undo"},
          {"setup", "codex"},
          {"setup", "vscode"}};
}

/// The same of what works on a run, or takes as long as one.
std::vector<Words> commands_with_a_run(const std::string& run) {
  return {{"show", run},
          {"audit", run},
          {"budget", run, "--max-lab-seconds", "100", "--max-cost", "5"},
          {"runs"},
          {"call", "run_status", Json{{"run", run}}.dump()},
          {"problem", "check", "vector_add"}};
}

/// A small run on the processor, in the folder `home`.
std::string small_run(const TempFolder& home) {
  const Json task{{"problem", "vector_add"},
                  {"implementation", "host-cpp"},
                  {"dims", {{"n", 20000}}},
                  {"output_dir", "small"}};
  auto environment = inherited_environment({"PATH", "LD_LIBRARY_PATH", "RATCHET_PYTHON"});
  environment.push_back("HOME=" + home.path().string());
  environment.push_back("XDG_STATE_HOME=" + (home / "s").string());
  const auto done = run_program({.argv = {(build_dir() / "bin/ratchet").string(), "--json", "call",
                                          "create_run", task.dump()},
                                 .environment = environment,
                                 .folder = home.path()},
                                120s);
  REQUIRE(done);
  INFO(done->err);
  REQUIRE(done->status.clean());
  return Json::parse(done->out)["run"];
}

void put_inputs(const TempFolder& home) {
  REQUIRE(write_file(home / "pages/one.md", "# One\n\nShared memory has 32 banks.\n"));
  put_foreign_tree(home);
}

void check_that_it_fits(const Words& words, const std::string& shown) {
  const auto lines = too_long(visible(shown));
  INFO(words.front() << ": " << lines.size() << " lines: " << (lines.empty() ? "" : lines[0]));
  CHECK(lines.empty());
}

TEST_CASE("no verb prints a line that is longer than an 80-column terminal", "[terminal][slow]") {
  const TempFolder home;
  put_inputs(home);
  Screen screen;
  for (const auto& words : commands_without_a_run())
    check_that_it_fits(words, screen.shows(words, home));
  check_that_it_fits({"--version"}, screen.shows({"--version"}, home));
}

TEST_CASE("no verb prints a longer line about a run", "[terminal][slow]") {
  const TempFolder home;
  Screen screen;
  for (const auto& words : commands_with_a_run(small_run(home)))
    check_that_it_fits(words, screen.shows(words, home));
}

TEST_CASE("a server at a terminal keeps to its width, and a lab does not speak to one",
          "[terminal]") {
  const TempFolder home;
  Screen screen;
  const auto served = screen.shows({"serve", "--http", "0", "--no-auth"}, home, 0, {}, "httplib");
  check_that_it_fits({"serve"}, served);
  CHECK(served.find("listens on") != std::string::npos);
  check_that_it_fits({"serve"}, screen.shows({"serve"}, home));  // stdin has ended
  const auto refused = screen.shows({"lab"}, home, 1);
  check_that_it_fits({"lab"}, refused);
  CHECK(refused.find("is a") != std::string::npos);
}

TEST_CASE("every command is one that is tried at 80 columns, and in JSON", "[terminal]") {
  const TempFolder home;
  Screen screen;
  auto tried = commands_without_a_run();
  std::ranges::move(commands_with_a_run("a-run"), std::back_inserter(tried));
  // In tests of their own: the demo takes a minute, an import needs torch, servers do not end.
  for (const auto& words : {Words{"serve"}, {"lab"}, {"demo"}, {"problem", "import"}})
    tried.push_back(words);
  const auto is_tried = [&](const Words& command) {
    return std::ranges::any_of(tried, [&](const Words& words) {
      return std::ranges::mismatch(command, words).in1 == command.end();
    });
  };
  for (const auto& name : commands_in(visible(screen.shows({"--help"}, home)))) {
    INFO(name);
    CHECK(is_tried({name}));
  }
  for (const std::string above : {"kbs", "problem"})
    for (const auto& name : commands_in(visible(screen.shows({above, "--help"}, home)))) {
      INFO(above << " " << name);
      CHECK(is_tried({above, name}));
    }
}

TEST_CASE("an import fits an 80-column terminal, and answers in JSON", "[terminal][python]") {
  const auto python = build_dir() / "python/bin/python";
  if (!std::filesystem::exists(python))
    SKIP("torch is not set up: ./dev test --all does it where it is to be had");
  const TempFolder home;
  REQUIRE(write_file(home / "task/task.yml",
                     "tests:\n  - {size: 1000}\n\nbenchmarks:\n  - {size: 1000}\n"));
  REQUIRE(write_file(home / "task/reference.py",
                     "import torch\n\n\ndef generate_input(size, seed):\n"
                     "    return torch.rand(size)\n\n\ndef ref_kernel(x):\n    return 2 * x\n"));
  Screen screen;
  const Words imported{"--python", python.string(), "problem", "import", "task"};
  check_that_it_fits(imported, screen.shows(imported, home));
  auto again = imported;
  again.insert(again.end(), {"--output", "again", "--json"});
  const auto json = screen.shows(again, home);
  CHECK(Json::accept(visible(json)));
}

TEST_CASE("a person's import may name a problem outside the current folder, and nothing else there",
          "[terminal]") {
  const TempFolder home, elsewhere;
  const auto task = elsewhere / "task";
  Screen screen;
  const Words words{"problem", "import", task.string()};
  REQUIRE(write_file(task / "reference.py", "import torch\n"));
  CHECK(screen.shows(words, home, 1).find("outside") == std::string::npos);
  REQUIRE(write_file(elsewhere / "secret.yml", "no problem"));
  std::filesystem::create_symlink(elsewhere / "secret.yml", task / "task.yml");
  CHECK(screen.shows(words, home, 1).find("outside") != std::string::npos);
}

TEST_CASE("what a verb refuses fits an 80-column terminal", "[terminal]") {
  const TempFolder home;
  Screen screen;
  for (const auto& [status, arguments] : std::vector<std::pair<int, std::vector<std::string>>>{
           {2, {"nothing"}},
           {2, {"kbs", "query"}},
           {2, {"serve", "--toolsets", "nothing"}},
           {1, {"demo", "--implementation", "nothing"}},
           {1, {"problem", "show", "nothing"}},
           {1, {"problem", "import", "/nowhere"}},
           {1, {"budget", "nothing", "--max-lab-seconds", "1"}},
           {1, {"call", "nothing", "{}"}},
           {1, {"kbs", "remove", "nothing"}},
           {1, {"--labs", "/nowhere", "doctor"}}}) {
    const auto lines = too_long(visible(screen.shows(arguments, home, status)));
    INFO(arguments.front() << ": " << (lines.empty() ? "" : lines[0]));
    CHECK(lines.empty());
  }
}

TEST_CASE("the demo and its run fit an 80-column terminal", "[terminal][slow]") {
  const TempFolder home;
  Screen screen;
  const auto all = screen.shows({"demo", "--implementation", "host-cpp", "--output", "run"}, home);
  CHECK(all.find(" s left  calibrating the noise") != std::string::npos);
  const auto demo = visible(all);
  CHECK(too_long(demo).empty());
  CHECK(demo.find("best: v") != std::string::npos);
  CHECK(demo.find("vs v0: timed beside v0") != std::string::npos);

  const auto listed =
      run_program({.argv = {(build_dir() / "bin/ratchet").string(), "runs", "--json"},
                   .environment = {"XDG_STATE_HOME=" + (home / "s").string()}},
                  60s);
  REQUIRE(listed);
  const Json runs = Json::parse(listed->out)["runs"];
  REQUIRE(runs.size() == 1);
  const auto id = runs[0]["run"].get<std::string>();
  const auto table = visible(screen.shows({"runs"}, home));
  CHECK(too_long(table).empty());
  CHECK(table.find(id) != std::string::npos);
  const auto page = visible(screen.shows({"show", id}, home));
  INFO(page);
  CHECK(too_long(page).empty());
  CHECK(page.find("best: v") != std::string::npos);
  CHECK(too_long(visible(screen.shows({"show", "nosuch"}, home, 1))).empty());
}

TEST_CASE("colors are for terminals that want them", "[terminal]") {
  const TempFolder home;
  Screen screen;
  CHECK(screen.shows({"kbs", "stats"}, home).find("\x1b[1m") != std::string::npos);
  CHECK(screen.shows({"kbs", "stats"}, home, 0, {"NO_COLOR=1"}).find('\x1b') == std::string::npos);
  const auto piped = run_program({.argv = {(build_dir() / "bin/ratchet").string(), "kbs", "stats"},
                                  .environment = {"TERM=xterm", "HOME=" + home.path().string()}},
                                 60s);
  REQUIRE(piped);
  CHECK(piped->out.find('\x1b') == std::string::npos);
}

TEST_CASE("the manual page has every command", "[terminal]") {
  const TempFolder home;
  const auto page = read_file(source_dir() / "packaging/ratchet.1");
  const auto help = run_program({.argv = {(build_dir() / "bin/ratchet").string(), "--help"},
                                 .environment = {"HOME=" + home.path().string()}},
                                60s);
  REQUIRE(page);
  REQUIRE(help);
  const auto commands = commands_in(help->out);
  for (const auto& name : commands) {
    INFO(name);
    CHECK(page->find("\n.B " + name + "\n") != std::string::npos);
  }
  CHECK(commands.size() > 10);
}

/// What the command answers with --json, into a pipe.
void check_json(Words words, const TempFolder& home) {
  INFO(words.front());
  words.insert(words.begin(), (build_dir() / "bin/ratchet").string());
  words.emplace_back("--json");
  const auto done =
      run_program({.argv = words,
                   .environment = {"PATH=/usr/bin:/bin", "HOME=" + home.path().string(),
                                   "XDG_STATE_HOME=" + (home / "s").string()},
                   .folder = home.path()},
                  120s);
  REQUIRE(done);
  INFO(done->out << done->err);
  CHECK(done->status.clean());
  CHECK(Json::parse(done->out, nullptr, false).is_object());
}

TEST_CASE("every command answers in JSON when asked", "[terminal][slow]") {
  const TempFolder home;
  put_inputs(home);
  for (const auto& words : commands_without_a_run()) check_json(words, home);
}

TEST_CASE("every command about a run answers in JSON when asked", "[terminal][slow]") {
  const TempFolder home;
  for (const auto& words : commands_with_a_run(small_run(home))) check_json(words, home);
}

TEST_CASE("in a pipe long work prints few lines", "[terminal][slow]") {
  const TempFolder home;
  const auto begin = std::chrono::steady_clock::now();
  const auto done =
      run_program({.argv = {(build_dir() / "bin/ratchet").string(), "problem", "check", "softmax"},
                   .environment = {"PATH=/usr/bin:/bin", "HOME=" + home.path().string()},
                   .folder = home.path()},
                  300s);
  REQUIRE(done);
  INFO(done->err);
  CHECK(done->status.clean());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto lines = std::ranges::count(done->err, '\n');
  CHECK(lines >= 1);
  CHECK(static_cast<double>(lines) <= 1 + took.count() / 2);
}

TEST_CASE("long lines are broken at blanks, and words stay whole", "[terminal]") {
  CHECK(wrapped("one two three", 80) == "one two three");
  CHECK(wrapped("one two three four\n", 9) == "one two\n  three\n  four\n");
  CHECK(wrapped("  - a b c d e", 9) == "  - a b c\n    d e");
  CHECK(wrapped("see /a/very/long/path here", 10) == "see\n  /a/very/long/path\n  here");
  CHECK(wrapped("µµµ µµµ µµµ", 7) == "µµµ µµµ\n  µµµ");
  CHECK(wrapped("", 10).empty());
}

}  // namespace
}  // namespace ratchet::test
