#include "tests/repo/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

namespace ratchet::repo {
namespace {

// The folders that CMakeLists.txt builds into test programs.
std::set<std::string> built_test_folders() {
  static const std::regex call(R"re(\n\s*ratchet_tests\(\S+\s+(\S+)([^)]*)\))re");
  static const std::regex rooms(R"re(\bROOMS\s+([^)]*))re");
  // Compiled into every program, and into ratchet-test-server.
  std::set<std::string> folders{"tests/support", "tests/support/conformance"};
  const auto build_file = text_of("CMakeLists.txt");
  for (std::sregex_iterator found(build_file.begin(), build_file.end(), call), end; found != end;
       ++found) {
    const auto folder = "tests/" + (*found)[1].str();
    folders.insert(folder);
    const auto arguments = (*found)[2].str();
    std::smatch list;
    if (!std::regex_search(arguments, list, rooms)) continue;
    std::istringstream names(list[1].str());
    for (std::string name; names >> name;) folders.insert(folder + "/" + name);
  }
  return folders;
}

std::vector<std::string> longer_than(std::size_t limit, const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const auto& path : paths)
    if (const auto count = lines_of(path).size(); count > limit)
      found.push_back(fmt::format("{}: {} lines, at most {}", path, count, limit));
  return found;
}

TEST_CASE("every test source is in a folder that is built", "[repo]") {
  const auto folders = built_test_folders();
  const auto build_file = text_of("CMakeLists.txt");
  std::vector<std::string> orphans;
  for (const auto& path : files("tests/", {".cpp"})) {
    if (path.starts_with("tests/attacks/")) continue;          // kernels, compiled by the tests
    if (path.starts_with("tests/honest/")) continue;           // kernels, sent by run.py
    if (path.starts_with("tests/load/")) continue;             // built by the program beside it
    if (path.starts_with("tests/kbs/code/")) continue;         // built by the test beside it
    if (build_file.find(path) != std::string::npos) continue;  // a program of its own
    if (!folders.contains(std::filesystem::path(path).parent_path().generic_string()))
      orphans.push_back(path);
  }
  INFO(listed(orphans));
  CHECK(orphans.empty());
}

TEST_CASE("test cases are in files named after what they test", "[repo]") {
  std::vector<std::string> misnamed;
  for (const auto& path : sources({".cpp"}))
    if (text_of(path).find("\nTEST_CASE(") != std::string::npos && !path.ends_with("_test.cpp"))
      misnamed.push_back(path);
  INFO(listed(misnamed));
  CHECK(misnamed.empty());
}

// A header or source that exceeds these has two jobs.
TEST_CASE("a header has at most 200 lines", "[repo]") {
  auto headers = sources({".h", ".cuh"});
  std::erase_if(headers, [](const auto& path) { return path.starts_with("tests/"); });  // samples
  const auto found = longer_than(200, headers);
  INFO(listed(found));
  CHECK(found.empty());
}

TEST_CASE("a source has at most 450 lines", "[repo]") {
  const auto found = longer_than(450, sources({".cpp", ".cu"}));
  INFO(listed(found));
  CHECK(found.empty());
}

TEST_CASE("a header guards itself with #pragma once", "[repo]") {
  std::vector<std::string> unguarded;
  for (const auto& path : sources({".h", ".cuh"}))
    if (text_of(path).find("#pragma once\n") == std::string::npos) unguarded.push_back(path);
  INFO(listed(unguarded));
  CHECK(unguarded.empty());
}

TEST_CASE("files and folders of ours are named in snake_case", "[repo]") {
  static const std::regex snake("[a-z0-9_/]+\\.(h|cpp|cu|cuh)");
  std::vector<std::string> odd;
  for (const auto& path : sources({".h", ".cpp", ".cu", ".cuh"}))
    if (!std::regex_match(path, snake)) odd.push_back(path);
  INFO(listed(odd));
  CHECK(odd.empty());
}

TEST_CASE("the license is in the root and the plugin manifests name it", "[repo]") {
  const auto license = text_of("LICENSE");
  CHECK(license.find("Apache License") != std::string::npos);
  CHECK(license.find("Version 2.0") != std::string::npos);
  for (const auto* manifest :
       {"skill/.claude-plugin/plugin.json", "skill/.codex-plugin/plugin.json"}) {
    INFO(manifest);
    CHECK(text_of(manifest).find("\"license\": \"Apache-2.0\"") != std::string::npos);
  }
}

}  // namespace
}  // namespace ratchet::repo
