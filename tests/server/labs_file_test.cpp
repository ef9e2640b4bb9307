// Labs that a file names, and the program that reads it.

#include <catch2/catch_test_macros.hpp>
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

using namespace std::chrono_literals;

/// The program with a file of labs.
class WithFile {
 public:
  /// In the text, FOLDER stands for this one.
  explicit WithFile(std::string text) {
    if (const auto at = text.find("FOLDER"); at != std::string::npos)
      text.replace(at, 6, folder_.path().string());
    REQUIRE(write_file(folder_ / "labs.yaml", text));
  }

  Captured run(std::vector<std::string> words) const {
    std::vector<std::string> argv{(build_dir() / "bin/ratchet").string(),
                                  "--json",
                                  "--state-dir",
                                  (folder_ / "near").string(),
                                  "--no-builtin-kbs",
                                  "--labs",
                                  (folder_ / "labs.yaml").string()};
    argv.insert(argv.end(), words.begin(), words.end());
    auto done = run_program({.argv = argv,
                             .environment = inherited_environment({"PATH", "HOME"}),
                             .folder = folder_.path()},
                            240s);
    REQUIRE(done);
    return *std::move(done);
  }
  [[nodiscard]] Json labs() const {
    const auto done = run({"call", "list_labs"});
    INFO(done.err);
    REQUIRE(done.status.clean());
    return Json::parse(done.out)["labs"];
  }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return folder_ / name;
  }

 private:
  TempFolder folder_;
};

/// The first block of a page in this language.
std::string block_in(const std::filesystem::path& page, const std::string& language) {
  const auto text = read_file(page);
  REQUIRE(text);
  const auto begin = text->find("```" + language + "\n");
  REQUIRE(begin != std::string::npos);
  const auto first = text->find('\n', begin) + 1;
  return text->substr(first, text->find("```", first) - first);
}

}  // namespace

TEST_CASE("the file of labs that docs/scale.md shows is read", "[labs]") {
  const WithFile file(block_in(source_dir() / "docs/scale.md", "yaml"));

  const auto labs = file.labs();

  REQUIRE(labs.size() == 7);
  CHECK(labs[0]["name"] == "gpu3");
  CHECK(labs[0]["group"] == "gpu3");
  CHECK(labs[0]["tags"] == Json{"h200", "office"});
  CHECK_FALSE(labs[0].contains("cost_per_hour"));
  CHECK(labs[4]["name"] == "queue-4");
  CHECK(labs[4]["group"] == "queue");
  CHECK(labs[4]["command"].get<std::string>().find("--job-name=ratchet-4 ") != std::string::npos);
  CHECK(labs[4]["cost_per_hour"] == 2.5);
  CHECK(labs[4]["currency"] == "EUR");
  CHECK(labs[4]["state"] == "off");
  CHECK(labs[4]["seconds"] == 0);
  CHECK(labs[6]["group"] == "gpu");
  CHECK(labs[6]["command"].get<std::string>().find("$((2 - 1))") != std::string::npos);
}

TEST_CASE("a wrong entry of a file of labs is refused with its line, field and rule", "[labs]") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"name: gpu3", "is no list of labs"},
      {"- gpu3", "line 1: the entry is no mapping"},
      {"- {name: a, command: x}\n- {command: x}", "line 2: name"},
      {"- {name: a}", "line 1: command"},
      {"- {name: a, command: ''}", "command: is empty"},
      {"- {name: a b, command: x}", "name: \"a b\""},
      {"- {name: '', command: x}", "name: \"\""},
      {"- {name: a, command: x, count: 0}", "count"},
      {"- {name: a, command: x, count: many}", "count"},
      {"- {name: a, command: x, idle_s: -1}", "idle_s"},
      {"- {name: a, command: x, start_s: 0}", "start_s"},
      {"- {name: a, command: x, tags: h200}", "tags"},
      {"- {name: a, command: x, cost: -1}", "cost"},
      {"- {name: a, command: x, cost: 1, cost_per_hour: 1}", "cost, cost_per_hour"},
      {"- {name: a, command: x, currency: EUR}", "currency"},
      {"- {name: a, command: x, gpus: 2}", "gpus"},
      {"- {name: a, command: x, command: y}", "a field is there twice"},
      {"- {name: a, command: x}\n- {name: a, command: y}", "two labs are called \"a\""},
      {"- {name: a-1, command: x}\n- {name: a, command: y, count: 2}", "\"a-1\""},
      {"- {name: a, command: x}\n- {name: a, command: y, count: 2}", "\"a\" is a lab"},
      {"- {name: a, command: x", "labs.yaml, line"},
      {"- {name: a, command: \"\xff\"}", "UTF-8"}};

  for (const auto& [text, said] : wrong) {
    const WithFile file(text);
    const auto done = file.run({"call", "list_labs"});
    INFO(text << "\n" << done.err);
    CHECK_FALSE(done.status.clean());
    CHECK(done.err.find(said) != std::string::npos);
    // The state folder is opened after the labs, so nothing was done.
    CHECK_FALSE(std::filesystem::exists(file / "near/ledger.sqlite"));
  }
}

TEST_CASE("a file of labs that is not there is told with its name", "[labs]") {
  const WithFile file("[]");
  std::filesystem::remove(file / "labs.yaml");

  const auto done = file.run({"runs"});

  CHECK_FALSE(done.status.clean());
  CHECK(done.err.find("labs.yaml") != std::string::npos);
}

TEST_CASE("an entry with a count makes labs that differ in their number", "[labs]") {
  const WithFile file("- name: box\n  count: 2\n  tags: [small]\n  command: " +
                      (build_dir() / "bin/ratchet").string() + " --state-dir FOLDER/far-{n} lab\n");

  const auto done = file.run({"call", "check_env", R"({"lab": "box-2"})"});

  INFO(done.err);
  REQUIRE(done.status.clean());
  CHECK_FALSE(Json::parse(done.out)["devices"].empty());
  CHECK(std::filesystem::exists(file / "far-2"));
  CHECK_FALSE(std::filesystem::exists(file / "far-1"));
}

}  // namespace ratchet::test
