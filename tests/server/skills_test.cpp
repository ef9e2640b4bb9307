// The worked example of each skill, played through the built server as it is printed: its files are
// written, its calls are made in their order, and every answer holds the words shown below it.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
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

/// One call of an example, and what its answer holds.
struct ExampleCall {
  std::string tool;
  Json arguments;
  std::vector<std::string> answers;
};

/// A line such as `check_gate {"run": "RUN"}` begins a call; its arguments may take more lines, and
/// lines that begin with an arrow quote the answer.
std::vector<ExampleCall> calls_in(const std::string& block) {
  static constexpr std::string_view kArrow = "→ ";
  std::vector<ExampleCall> calls;
  std::string open;  // the text of arguments that are not complete yet
  for (const auto line : lines_of(block)) {
    if (line.starts_with(kArrow)) {
      REQUIRE_FALSE(calls.empty());
      calls.back().answers.emplace_back(line.substr(kArrow.size()));
      continue;
    }
    std::string_view part = line;
    if (open.empty()) {
      const auto blank = line.find(' ');
      REQUIRE(blank != std::string_view::npos);
      calls.push_back({.tool = std::string(line.substr(0, blank)), .arguments = {}, .answers = {}});
      part = line.substr(blank + 1);
    }
    open += std::string(part) + "\n";
    calls.back().arguments = Json::parse(open, nullptr, false);
    if (calls.back().arguments.is_object()) open.clear();
  }
  INFO(open);
  REQUIRE(open.empty());
  return calls;
}

/// The fenced blocks of a page that open with this language.
std::vector<std::string> blocks_of(const std::string& page, const std::string& language) {
  std::vector<std::string> blocks;
  const std::string fence = "\n```" + language + "\n";
  for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    blocks.push_back(page.substr(at, page.find("\n```", at) + 1 - at));
  }
  return blocks;
}

/// A reader of a skill: an empty folder, and the files that the skill prints, which a comment in
/// their first line names.
class Reader {
 public:
  explicit Reader(const std::string& page) {
    for (const auto* language : {"cpp", "python"})
      for (const auto& block : blocks_of(page, language)) {
        const auto first = block.substr(0, block.find('\n'));
        REQUIRE(write_file(folder_ / first.substr(first.find(' ') + 1), block));
      }
  }

  void play(ExampleCall call) {
    if (call.arguments.contains("run")) call.arguments["run"] = run_;
    if (call.arguments.contains("selected"))
      for (auto& page : call.arguments["selected"]) page["query_id"] = query_;
    if (call.arguments.value("methods", Json()) == "METHODS") call.arguments["methods"] = methods();
    const auto done = called(call.tool, call.arguments);
    INFO(call.tool << " " << call.arguments.dump() << "\n" << done.out << done.err);
    const auto said = done.out + done.err;
    for (const auto& answer : call.answers) {
      INFO(answer);
      CHECK(said.find(answer) != std::string::npos);
    }
    // An example may show a refusal, but then it quotes it.
    if (!done.status.clean()) CHECK_FALSE(call.answers.empty());
    if (call.tool == "create_run") {
      REQUIRE(done.out.starts_with("run: "));
      run_ = done.out.substr(5, done.out.find('\n') - 5);
    }
    if (const auto at = done.out.find(kQuery); call.tool == "query_kbs" && at < done.out.size())
      query_ = done.out.substr(at + kQuery.size(), done.out.find('\n', at) - at - kQuery.size());
  }

 private:
  [[nodiscard]] Captured called(const std::string& tool, const Json& arguments,
                                const std::vector<std::string>& options = {}) const {
    auto environment = inherited_environment({"PATH", "LD_LIBRARY_PATH", "RATCHET_PYTHON"});
    environment.push_back("HOME=" + folder_.path().string());
    environment.push_back("XDG_STATE_HOME=" + (folder_ / "state").string());
    std::vector<std::string> argv{(build_dir() / "bin/ratchet").string(), "call", tool,
                                  arguments.dump()};
    argv.insert(argv.end(), options.begin(), options.end());
    auto done =
        run_program({.argv = argv, .environment = environment, .folder = folder_.path()}, 300s);
    REQUIRE(done);
    return *std::move(done);
  }

  /// Those that list_methods does not exclude, as many of each axis as its budget says.
  [[nodiscard]] Json methods() const {
    const Json list = Json::parse(called("list_methods", {{"run", run_}}, {"--json"}).out);
    Json chosen = Json::array();
    for (const auto& [axis, budget] : list.at("budget").items()) {
      int left = budget;
      for (const auto& method : list.at("methods"))
        if (left > 0 && !method.contains("excluded") &&
            method.at("id").get<std::string>().starts_with(axis + ".")) {
          chosen.push_back({{"id", method.at("id")}});
          --left;
        }
    }
    return chosen;
  }

  static constexpr std::string_view kQuery = "query_id: ";
  TempFolder folder_;
  std::string run_;    // stands for RUN
  std::string query_;  // for QUERY
};

TEST_CASE("the worked example of every skill goes as printed", "[skills][slow][timed]") {
  std::vector<std::string> skills;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "skill/skills"))
    skills.push_back(entry.path().string());
  const auto skill = GENERATE_COPY(Catch::Generators::from_range(skills));
  INFO(skill);
  const auto page = read_file(skill + "/SKILL.md");
  REQUIRE(page);
  const auto examples = blocks_of(*page, "calls");
  REQUIRE(examples.size() == 1);
  const auto calls = calls_in(examples.front());
  CHECK(calls.size() > 1);
  Reader reader(*page);
  for (const auto& call : calls) reader.play(call);
}

}  // namespace
}  // namespace ratchet::test
