// Every file of the fuzzers' corpora, through the functions that libFuzzer calls.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "kernels/labs/lab_service.h"
#include "server/core/files.h"
#include "tests/fuzz/fuzzers.h"
#include "tests/support/places.h"
#include "tests/support/sanitized.h"

namespace ratchet::fuzz {
namespace {

namespace fs = std::filesystem;

fs::path corpora() {
  return test::source_dir() / "tests/fuzz/corpus";
}

std::vector<fs::path> files_of(std::string_view fuzzer) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(corpora() / fuzzer))
    files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() || entry.path().extension() == ".cpp")
      names.insert(entry.path().stem());
  return names;
}

std::string bytes_of(const fs::path& file) {
  const auto bytes = read_file(file);
  REQUIRE(bytes);
  return *bytes;
}

/// Seconds of processor time, whatever else the machine does.
template <class Work>
double seconds_of(Work work) {
  const auto begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST_CASE("every fuzzer has a source and a corpus, and the table names it", "[fuzz]") {
  std::set<std::string> table;
  for (const auto& fuzzer : kFuzzers) table.emplace(fuzzer.name);
  auto sources = names_in(test::source_dir() / "tests/fuzz");
  for (const auto* folder : {"corpus", "entry", "replay"}) sources.erase(folder);
  CHECK(sources == table);
  CHECK(names_in(corpora()) == table);
}

TEST_CASE("a corpus is small enough to live in the tree", "[fuzz]") {
  std::uintmax_t bytes = 0;
  for (const auto& fuzzer : kFuzzers) {
    INFO(fuzzer.name);
    const auto files = files_of(fuzzer.name);
    CHECK(files.size() >= 5);
    CHECK(files.size() <= 40);
    for (const auto& file : files) {
      INFO(file);
      CHECK(fs::file_size(file) <= 8192);
      bytes += fs::file_size(file);
    }
  }
  CHECK(bytes <= 400 * 1024);
}

TEST_CASE("every file of every corpus keeps the promises of its reader", "[fuzz]") {
  for (const auto& fuzzer : kFuzzers)
    for (const auto& file : files_of(fuzzer.name)) {
      INFO(file);
      const auto text = bytes_of(file);
      // Without what follows a string, so that a sanitizer sees a reader go beyond the end.
      const std::vector<char> bytes(text.begin(), text.end());
      CHECK_NOTHROW(fuzzer.check({bytes.data(), bytes.size()}));
    }
}

TEST_CASE("the fuzzer of labs knows what every method of a lab takes and answers", "[fuzz]") {
  const auto schemas = lab_schemas();
  CHECK(schemas.size() > 10);
  for (const auto& [name, schema] : schemas) {
    INFO(name);
    CHECK(reads_lab_method(name) == (name != "message"));
  }
  CHECK_FALSE(reads_lab_method("nothing"));
}

TEST_CASE("a broken promise is seen", "[fuzz]") {
  CHECK_THROWS(require(false, "a promise"));
  CHECK_NOTHROW(require(true, "a promise"));
}

TEST_CASE("64 KiB of any corpus file are read within a second", "[fuzz][slow]") {
  constexpr double kLimit = test::kSanitized ? 10 : 1;
  for (const auto& fuzzer : kFuzzers)
    for (const auto& file : files_of(fuzzer.name)) {
      INFO(file);
      const auto bytes = bytes_of(file);
      std::string many;
      while (!bytes.empty() && many.size() < 65536) many += bytes;
      many.resize(std::min<std::size_t>(many.size(), 65536));
      CHECK(seconds_of([&] { CHECK_NOTHROW(fuzzer.check(many)); }) < kLimit);
    }
}

}  // namespace
}  // namespace ratchet::fuzz
