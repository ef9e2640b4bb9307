// What the commands print at a terminal of 80 columns, and through a pipe.

#include "server/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
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

  /// Runs the built program with all its output here; returns what it wrote.
  std::string shows(const std::vector<std::string>& arguments, const TempFolder& home,
                    int status = 0, const std::vector<std::string>& more = {}) {
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
    while (!(ended = process->wait_for(20ms))) read_into(seen);
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

TEST_CASE("no verb prints a line that is longer than an 80-column terminal", "[terminal]") {
  const TempFolder home;
  REQUIRE(write_file(home / "pages/one.md", "# One\n\nShared memory has 32 banks.\n"));
  put_foreign_tree(home);
  const auto arguments = GENERATE(
      std::vector<std::string>{"--help"}, std::vector<std::string>{"serve", "--help"},
      std::vector<std::string>{"--version"}, std::vector<std::string>{"runs"},
      std::vector<std::string>{"doctor"}, std::vector<std::string>{"audit"},
      std::vector<std::string>{"head"}, std::vector<std::string>{"gc", "--dry-run"},
      std::vector<std::string>{"kbs", "query", "shared memory bank conflicts"},
      std::vector<std::string>{"kbs", "get", "technique-vectorized-access"},
      std::vector<std::string>{"kbs", "grep", "ldmatrix"}, std::vector<std::string>{"kbs", "stats"},
      std::vector<std::string>{"kbs", "doctor"}, std::vector<std::string>{"kbs", "add", "pages"},
      std::vector<std::string>{"call", "list_methods", "{}"},
      std::vector<std::string>{"problem", "list"},
      std::vector<std::string>{"problem", "show", "softmax"},
      std::vector<std::string>{"docs", "--repository", source_dir().string()},
      std::vector<std::string>{"import", "tree"}, std::vector<std::string>{"setup", "cursor"},
      std::vector<std::string>{"setup", "codex"});
  Screen screen;
  const auto lines = too_long(visible(screen.shows(arguments, home)));
  INFO(arguments.front() << ": " << lines.size() << " lines: " << (lines.empty() ? "" : lines[0]));
  CHECK(lines.empty());
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
  const auto demo =
      visible(screen.shows({"demo", "--implementation", "host-cpp", "--output", "run"}, home));
  CHECK(too_long(demo).empty());
  CHECK(demo.find("best: v") != std::string::npos);

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

TEST_CASE("every command answers in JSON when asked", "[terminal]") {
  const TempFolder home;
  REQUIRE(write_file(home / "pages/one.md", "# One\n\nText.\n"));
  put_foreign_tree(home);
  const auto arguments = GENERATE(
      std::vector<std::string>{"runs"}, std::vector<std::string>{"doctor"},
      std::vector<std::string>{"audit"}, std::vector<std::string>{"head"},
      std::vector<std::string>{"gc", "--dry-run"}, std::vector<std::string>{"kbs", "stats"},
      std::vector<std::string>{"kbs", "query", "bank conflicts"},
      std::vector<std::string>{"kbs", "add", "pages"}, std::vector<std::string>{"problem", "list"},
      std::vector<std::string>{"problem", "show", "softmax"},
      std::vector<std::string>{"setup", "codex", "--print"},
      std::vector<std::string>{"docs", "--repository", source_dir().string()},
      std::vector<std::string>{"import", "tree"}, std::vector<std::string>{"kbs", "doctor"},
      std::vector<std::string>{"kbs", "grep", "ldmatrix"},
      std::vector<std::string>{"kbs", "get", "technique-vectorized-access"},
      std::vector<std::string>{"call", "check_env", "{}"});
  std::vector<std::string> argv{(build_dir() / "bin/ratchet").string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  argv.emplace_back("--json");
  const auto done =
      run_program({.argv = argv,
                   .environment = {"PATH=/usr/bin:/bin", "HOME=" + home.path().string()},
                   .folder = home.path()},
                  120s);
  REQUIRE(done);
  INFO(arguments[0] << ": " << done->out << done->err);
  CHECK(done->status.clean());
  CHECK(Json::parse(done->out, nullptr, false).is_object());
}

TEST_CASE("long lines are broken at blanks, and words stay whole", "[terminal]") {
  CHECK(wrapped("one two three", 80) == "one two three");
  CHECK(wrapped("one two three four\n", 9) == "one two\n  three\n  four\n");
  CHECK(wrapped("  - a b c d e", 9) == "  - a b c\n    d e");
  CHECK(wrapped("see /a/very/long/path here", 10) == "see\n  /a/very/long/path\n  here");
  CHECK(wrapped("µµµ µµµ µµµ", 7) == "µµµ µµµ\n  µµµ");
  CHECK(wrapped("", 10).empty());
}

TEST_CASE("progress shows a bar and the time that is left", "[terminal]") {
  // A quarter took 10 s, so that three quarters take 30 s.
  CHECK(progress_text(1, 4, 10s, "cases", 80) == "[#####               ]  25 %  30 s left  cases");
  CHECK(progress_text(4, 4, 10s, "cases", 80) == "[####################] 100 %  cases");
  CHECK(progress_text(0, 4, 10s, "cases", 80) == "[                    ]   0 %  cases");
  CHECK(progress_text(1, 100, 100s, "x", 80) == "[                    ]   1 %  165 min left  x");
  CHECK(progress_text(3, 0, 10s, "first\nsecond", 80) == "… first");
  CHECK(length(progress_text(1, 4, 10s, std::string(200, 'x'), 79)) == 79);
}

}  // namespace
}  // namespace ratchet::test
