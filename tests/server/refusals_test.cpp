// Every refusal that a user of the tools is likely to see, verbatim, through the real server over
// stdio. RATCHET_WRITE_GOLDEN=1 writes the answers into tests/server/refusals/refusals.txt.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/stdio_program.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;

const fs::path& golden_file() {
  static const fs::path path = source_dir() / "tests" / "server" / "refusals" / "refusals.txt";
  return path;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) return;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Plays the calls of the golden file on a server, and writes down what it answers.
class Session {
 public:
  /// What the golden file should say after this line.
  std::string play(const std::string& line) {
    if (line.size() < 3 || line[1] != ' ') return "";
    const std::string rest = actual(line.substr(2));
    if (line[0] == '=') return put(rest);
    if (line[0] == '-') {
      fs::rename(rest, root_ / ("aside" + std::to_string(++count_)));
      return "";
    }
    if (line[0] == '$') return shown(run_command(rest));
    if (line[0] != '>' && line[0] != '+') return "";
    const auto space = rest.find(' ');
    const Json result = call(rest.substr(0, space), Json::parse(rest.substr(space + 1)));
    const bool refused = result.value("isError", false);
    INFO(line << "\n" << result.dump(2));
    CHECK(refused == (line[0] == '>'));
    if (line[0] == '+') return remember(result);
    return shown(result.at("content").at(0).at("text"));
  }

 private:
  static std::string program() { return (build_dir() / "bin" / "ratchet").string(); }
  [[nodiscard]] std::vector<std::string> environment() const {
    auto words = inherited_environment({"PATH", "LD_LIBRARY_PATH"});
    words.push_back("HOME=" + root_.path().string());
    return words;
  }

  std::string put(const std::string& rest) const {
    const auto space = rest.find(' ');
    const fs::path path = rest.substr(0, space);
    fs::create_directories(path.parent_path());
    std::ofstream(path) << rest.substr(space + 1) << "\n";
    return "";
  }

  std::string run_command(const std::string& line) const {
    const std::string command = "\"" + program() + "\"" + line.substr(line.find(' ')) +
                                " --state-dir " + (root_ / "state").string();
    auto ran = run_program(
        {.argv = {"/bin/sh", "-c", command + " 2>&1 </dev/null"}, .environment = environment()},
        std::chrono::seconds(60));
    REQUIRE(ran);
    CHECK_FALSE(ran->status.clean());
    return ran->out;
  }

  Json call(const std::string& tool, const Json& arguments) {
    const Json request{{"jsonrpc", "2.0"},
                       {"id", ++count_},
                       {"method", "tools/call"},
                       {"params", {{"name", tool}, {"arguments", arguments}}}};
    server_.send(request);
    while (true) {
      const Json json = server_.receive();
      if (json.contains("id") && json["id"] == count_) return json.at("result");
    }
  }

  /// After a call that worked: keeps the ids that later calls name.
  std::string remember(const Json& result) {
    const Json answer = result.value("structuredContent", Json::object());
    if (answer.contains("contract_digest")) old_ = std::exchange(run_, answer.at("run"));
    if (answer.contains("query_id")) query_ = answer["query_id"];
    return "";
  }

  [[nodiscard]] std::string actual(std::string text) const {
    replace_all(text, "ROOT", root_.path().string());
    replace_all(text, "\"RUN\"", "\"" + run_ + "\"");
    replace_all(text, "\"OLD\"", "\"" + old_ + "\"");
    replace_all(text, "\"QUERY\"", "\"" + query_ + "\"");
    return text;
  }

  /// An answer without what differs between two runs of the test.
  [[nodiscard]] std::string shown(std::string text) const {
    replace_all(text, root_.path().string(), "ROOT");
    replace_all(text, fs::canonical(root_.path()).string(), "ROOT");
    replace_all(text, run_, "RUN");
    replace_all(text, old_, "OLD");
    replace_all(text, query_, "QUERY");
    text = std::regex_replace(text, std::regex("[0-9a-f]{64}"), "DIGEST");
    text = std::regex_replace(text, std::regex("(vector_add)-[0-9a-f]{8}"), "$1-ID");
    // Which metrics a profile has depends on what this machine lets us count.
    text = std::regex_replace(text, std::regex("(metric of the profile of v[0-9]+; it has )[^\n]*"),
                              "$1METRICS");
    std::string quoted;
    std::istringstream lines(text);
    // What a server that starts cleans up, and logs, depends on when the one before it ended.
    for (std::string line; std::getline(lines, line);)
      if (line.find("[info] removed ") == std::string::npos) quoted += "    " + line + "\n";
    return quoted;
  }

  TempFolder root_;
  StdioProgram server_{{.argv = {program(), "serve", "--state-dir", (root_ / "state").string(),
                                 "--root", root_.path().string()},
                        .environment = environment()}};
  std::string run_, old_, query_;
  int count_ = 0;
};

TEST_CASE("every refusal says verbatim what the golden file says", "[refusals][slow]") {
  const auto golden = read_file(golden_file());
  REQUIRE(golden);
  Session session;
  std::string seen;
  int refusals = 0;
  std::istringstream lines(*golden);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    ")) continue;
    seen += line + "\n" + session.play(line);
    refusals += line.starts_with("> ") || line.starts_with("$ ") ? 1 : 0;
  }
  CHECK(refusals >= 110);
  if (std::getenv("RATCHET_WRITE_GOLDEN") != nullptr) std::ofstream(golden_file()) << seen;
  for (const char* bad : {"elete it", "verwrite"}) CHECK(seen.find(bad) == std::string::npos);
  // Line by line, so that a failure shows what changed.
  std::istringstream wanted(*golden), got(seen);
  for (std::string want, have; std::getline(wanted, want) && std::getline(got, have);) {
    INFO(have);
    REQUIRE(want == have);
  }
  CHECK(seen.size() == golden->size());
}

}  // namespace
}  // namespace ratchet::test
