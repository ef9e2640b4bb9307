#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <regex>
#include <string>

#include "tests/repo/tree.h"

namespace ratchet::repo {
namespace {

// Matching lines of the tree, as "path:line: text". Files with NUL bytes are not text; the license
// text is not ours.
std::vector<std::string> lines_that_match(const std::regex& pattern) {
  std::vector<std::string> found;
  for (const auto& path : files()) {
    if (path == "LICENSE" || text_of(path).find('\0') != std::string::npos) continue;
    std::size_t number = 0;
    for (const auto& line : lines_of(path)) {
      ++number;
      if (std::regex_search(line, pattern))
        found.push_back(fmt::format("{}:{}: {}", path, number, line.substr(0, 120)));
    }
  }
  return found;
}

// The patterns are written so that they do not match this file.

TEST_CASE("no file names a path of a particular machine", "[repo]") {
  const auto found = lines_that_match(std::regex("(^|[^A-Za-z0-9_./-])/(work|root|home)/[a-z.]"));
  INFO(listed(found));
  CHECK(found.empty());
}

TEST_CASE("no file names the host of a package registry", "[repo]") {
  const auto found =
      lines_that_match(std::regex("(debian|npmjs|pypi|pythonhosted|ubuntu)[.](org|com)"));
  INFO(listed(found));
  CHECK(found.empty());
}

TEST_CASE("no comment marks unfinished work", "[repo]") {
  const auto found =
      lines_that_match(std::regex("\\b(TO"
                                  "DO|FIX"
                                  "ME|X"
                                  "XX|HA"
                                  "CK)\\b"));
  INFO(listed(found));
  CHECK(found.empty());
}

// Examples in comments are indented further and are allowed.
TEST_CASE("no code is commented out or disabled", "[repo]") {
  std::vector<std::string> found;
  const std::regex dead(
      R"re(^\s*(// ?\S.*[)}\]];\s*$|//\s*(if|for|while|switch) \(.*|#\s*if\s+0\b))re");
  for (const auto& path : sources({".h", ".cpp", ".cu", ".cuh"})) {
    if (path.starts_with("tests/repo/")) continue;
    for (const auto& line : code_lines_of(path))
      if (std::regex_search(line, dead)) found.push_back(path + ": " + line);
  }
  INFO(listed(found));
  CHECK(found.empty());
}

}  // namespace
}  // namespace ratchet::repo
