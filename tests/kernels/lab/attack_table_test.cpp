// Compares docs/attacks.md with the kernels it describes.

#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "server/core/files.h"
#include "tests/kernels/lab/attack.h"
#include "tests/support/places.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// Rows of the table by catalog id.
std::map<std::string, std::string> rows() {
  const auto text = read_file(source_dir() / "docs" / "attacks.md");
  REQUIRE(text);
  std::map<std::string, std::string> found;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("| ") && line.size() > 3 && std::isdigit(line[3]))
      found[line.substr(2, line.find(' ', 2) - 2)] = line;
  return found;
}

}  // namespace

TEST_CASE("the table of cheats has a row for each catalog entry", "[attacks]") {
  const std::map<char, int> counts{{'A', 17}, {'B', 16}, {'C', 16}, {'D', 8}, {'E', 12},
                                   {'F', 8},  {'G', 9},  {'H', 10}, {'I', 8}};
  const auto table = rows();

  CHECK(table.size() == 106);
  for (const auto& [letter, count] : counts)
    for (int i = 1; i <= count; ++i) CHECK(table.contains(letter + std::to_string(i)));
}

TEST_CASE("every attack is in the rows of its catalog ids, and no other is", "[attacks]") {
  auto table = rows();
  const auto page = read_file(source_dir() / "docs" / "attacks.md");
  REQUIRE(page);
  std::set<std::string> named;
  for (const auto* folder : {"host", "cuda", "python"})
    for (const auto& attack : attacks_of(folder))
      for (const auto& id : attack.catalog) {
        INFO(attack.name << " and " << id);
        if (id == "honest") {
          CHECK(page->find("`" + attack.name + "`") != std::string::npos);
          continue;
        }
        REQUIRE(table.contains(id));
        auto& row = table[id];
        const auto at = row.find("`" + attack.name + "`");
        REQUIRE(at != std::string::npos);
        row.erase(at, attack.name.size() + 2);
      }
  for (const auto& [id, row] : table) {
    INFO(row);
    CHECK(row.find("`host/") == std::string::npos);
    CHECK(row.find("`cuda/") == std::string::npos);
    CHECK(row.find("`python/") == std::string::npos);
  }
}

TEST_CASE("the smallest honest set of cheats is covered on CUDA", "[attacks]") {
  std::set<std::string> covered;
  std::size_t honest = 0;
  for (const auto& attack : attacks_of("cuda")) {
    covered.insert(attack.catalog.begin(), attack.catalog.end());
    honest += attack.catalog.front() == "honest";
  }

  for (const auto* id :
       {"A1", "A3", "A6", "A7", "B1", "B4", "B7", "B10", "C1", "C8", "C11", "D1", "F1"})
    CHECK(covered.contains(id));
  CHECK(honest >= 12);
}
