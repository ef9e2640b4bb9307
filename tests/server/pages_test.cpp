// What the pages tell a reader to type: the commands exist with these options, and those of the
// curl page do what the page says.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "server/core/fd.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "server/core/text.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::vector<fs::path> pages_for_users() {
  std::vector<fs::path> pages{source_dir() / "README.md", source_dir() / "CONTRIBUTING.md"};
  for (const auto* folder : {"docs", "skill"})
    for (const auto& entry : fs::recursive_directory_iterator(source_dir() / folder))
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
  return pages;
}

/// The lines of all ```sh blocks, those that end with a backslash joined with the next.
std::string shell_of(const std::string& page) {
  std::string out;
  bool within = false;
  for (const auto line : lines_of(page)) {
    if (line.starts_with("```")) {
      within = !within && line == "```sh";
      continue;
    }
    if (within) out += std::string(line) + "\n";
  }
  return std::regex_replace(out, std::regex("\\\\\n *"), " ");
}

/// The command lines of a page: those of its shell blocks, and what stands in `code` in its text.
std::vector<std::string> command_lines(const std::string& page) {
  std::vector<std::string> found;
  const std::string shell = shell_of(page);
  for (const auto line : lines_of(shell)) found.emplace_back(line);
  static const std::regex code("`((?:ratchet|\\./dev) [^`]*)`");
  for (std::sregex_iterator match(page.begin(), page.end(), code), end; match != end; ++match)
    found.push_back((*match)[1]);
  return found;
}

/// The words after each `program` in a line, until a sign of the shell ends the command.
std::vector<std::vector<std::string>> calls_of(const std::string& line,
                                               const std::string& program) {
  std::vector<std::vector<std::string>> calls;
  const std::regex begin("(?:^|[ (/])" + program + " +([^|;&#)<>]*)");
  for (std::sregex_iterator match(line.begin(), line.end(), begin), end; match != end; ++match) {
    std::istringstream words((*match)[1].str());
    calls.emplace_back(std::istream_iterator<std::string>(words),
                       std::istream_iterator<std::string>());
  }
  return calls;
}

/// What `ratchet VERB --help` prints.
class Help {
 public:
  const std::string& of(const std::string& verb) {
    auto& text = texts_[verb];
    if (!text.empty()) return text;
    std::vector<std::string> argv{(build_dir() / "bin/ratchet").string()};
    std::istringstream words(verb);
    for (std::string word; words >> word;) argv.push_back(word);
    argv.emplace_back("--help");
    const auto done = run_program({.argv = argv, .environment = {"HOME=/"}}, 60s);
    REQUIRE(done);
    return text = done->status.clean() ? done->out : "none";
  }

 private:
  std::map<std::string, std::string> texts_;
};

bool has_word(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex("(^|[\\s,!:])" + word + "($|[\\s,={])"));
}

/// What is wrong with the words after `ratchet`, or nothing.
std::string complaint(Help& help, const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::string verb;
  std::size_t at = 0;
  if (!words[0].starts_with('-')) verb = words[at++];
  static const std::regex name("[a-z]+");
  if (!verb.empty() && !std::regex_match(verb, name)) return "";  // RUN, …
  if (!verb.empty() && help.of(verb) == "none") return "there is no command " + verb;
  if (verb == "kbs" && at < words.size() && std::regex_match(words[at], name)) {
    verb += " " + words[at++];
    if (help.of(verb) == "none") return "there is no command " + verb;
  }
  for (; at < words.size(); ++at) {
    const auto option = words[at].substr(0, words[at].find('='));
    if (option.starts_with('\'') || option.starts_with('"')) break;  // JSON, which may hold dashes
    if (option.starts_with("--") && option.size() > 2 && !has_word(help.of(verb), option) &&
        !has_word(help.of(""), option))
      return verb + " has no option " + option;
  }
  return "";
}

TEST_CASE("commands and options that the pages print are ones that the program has", "[pages]") {
  Help help;
  std::vector<std::string> wrong;
  int seen = 0;
  for (const auto& page : pages_for_users())
    for (const auto& line : command_lines(read_file(page).value_or("")))
      for (const auto& words : calls_of(line, "ratchet")) {
        ++seen;
        if (const auto why = complaint(help, words); !why.empty())
          wrong.push_back(page.string() + ": " + line + ": " + why);
      }
  for (const auto& one : wrong) UNSCOPED_INFO(one);
  CHECK(wrong.empty());
  CHECK(seen > 40);

  // A command that is not there is found.
  CHECK(complaint(help, {"serv"}) == "there is no command serv");
  CHECK(complaint(help, {"kbs", "ad"}) == "there is no command kbs ad");
  CHECK(complaint(help, {"serve", "--htp", "8383"}) == "serve has no option --htp");
  CHECK(complaint(help, {"serve", "--http", "8383", "--root", "DIR"}).empty());
}

TEST_CASE("verbs of dev that the pages print are ones that it has", "[pages]") {
  const auto script = read_file(source_dir() / "dev").value_or("");
  std::vector<std::string> wrong;
  for (const auto& page : pages_for_users())
    for (const auto& line : command_lines(read_file(page).value_or("")))
      for (const auto& words : calls_of(line, "\\./dev"))
        if (!words.empty() && words[0] != "help" &&
            script.find("\nverb_" + words[0] + "() {") == std::string::npos)
          wrong.push_back(page.string() + ": " + line);
  for (const auto& one : wrong) UNSCOPED_INFO(one);
  CHECK(wrong.empty());
}

/// A port that nobody listens on.
int free_port() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* general = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(socket.get(), general, size) == 0);
  REQUIRE(::getsockname(socket.get(), general, &size) == 0);
  return ntohs(address.sin_port);
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// What a shell printed that was given all shell blocks of a page; stops where a line fails.
Captured ran(const std::string& page) {
  const auto text = read_file(source_dir() / page);
  REQUIRE(text);
  const TempFolder folder;
  const auto script =
      std::regex_replace(shell_of(*text), std::regex("8383"), std::to_string(free_port()));
  const char* path = std::getenv("PATH");
  auto environment = inherited_environment({"LD_LIBRARY_PATH", "RATCHET_PYTHON"});
  environment.push_back("PATH=" + (build_dir() / "bin").string() + ":" +
                        (path == nullptr ? "/usr/bin:/bin" : path));
  environment.push_back("HOME=" + folder.path().string());
  environment.push_back("XDG_STATE_HOME=" + (folder / "state").string());

  auto done = run_program({.argv = {"/bin/bash", "-euo", "pipefail", "-c", script},
                           .environment = environment,
                           .folder = folder.path()},
                          300s);
  REQUIRE(done);
  return *std::move(done);
}

TEST_CASE("every line of the curl page runs, in its order, against a real server",
          "[pages][slow]") {
  for (const auto* program : {"curl", "openssl", "bash"})
    if (!find_program(program)) SKIP(std::string(program) + " is not installed");
  const auto done = ran("docs/curl.md");

  INFO(done.out << done.err);
  CHECK(done.status.clean());
  // The page shows one refusal and one error, and nothing else failed.
  CHECK(count_of(done.out, "\"isError\":true") == 1);
  CHECK(count_of(done.out, "\"error\":{\"code\"") == 1);
  CHECK(count_of(done.out, "\"structuredContent\"") >= 9);
  CHECK(done.out.find("\n401\n") != std::string::npos);
}

TEST_CASE("every line of the page on adding knowledge runs, in its order", "[pages]") {
  const auto done = ran("docs/knowledge.md");

  INFO(done.out << done.err);
  CHECK(done.status.clean());
  CHECK(done.out.find("tiles") != std::string::npos);
  CHECK(done.out.find("removed: 1") != std::string::npos);
}

}  // namespace
}  // namespace ratchet::test
