// The files that travel with sources. Honest ones: tests/server/labs_test.cpp.

#include "kernels/labs/source_files.h"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "server/core/files.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

Json source_in(const Json& folder) {
  return {{"source", {{"file_name", "a.cpp"}, {"text", ""}, {"folder", folder}}}};
}

}  // namespace

TEST_CASE("a source whose folder is no text is left to the reader of its record", "[labs]") {
  const TempFolder folder;
  const Json asked = source_in(3);
  Json body = asked;

  CHECK(unpack({}, folder.path(), body));

  CHECK(body == asked);
}

TEST_CASE("files of a request that lead out of their folder are refused, and others are not",
          "[labs]") {
  const TempFolder folder;
  const auto unpacked = [&](const std::string& below, const std::string& path) {
    Json body = source_in("/near");
    return unpack({{"/near", {below, {{path, "int a;"}}}}}, folder / "place", body);
  };

  CHECK(unpacked("kernels/add", "../common.h"));
  CHECK(unpacked("kernels/add", "sub/own.h"));
  for (const auto* path : {"../../../out.h", "/tmp/out.h", "sub/../../../../out.h"}) {
    INFO(path);
    const auto refused = unpacked("kernels/add", path);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("leads out") != std::string::npos);
  }
  CHECK_FALSE(unpacked("../kernels", "own.h"));
  CHECK_FALSE(std::filesystem::exists(folder / "out.h"));
}
