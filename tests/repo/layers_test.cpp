#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <regex>

#include "tests/repo/layers.h"
#include "tests/repo/tree.h"

namespace ratchet::repo {
namespace {

// Each #include of a file: "path" or <path>, delimiters kept.
std::vector<std::string> includes_of(const std::string& path) {
  static const std::regex directive(R"re(^\s*#\s*include\s*("[^"]+"|<[^>]+>))re");
  std::vector<std::string> found;
  for (const auto& line : code_lines_of(path))
    if (std::smatch match; std::regex_search(line, match, directive)) found.push_back(match[1]);
  return found;
}

TEST_CASE("a folder includes only what its layer allows", "[repo]") {
  std::vector<std::string> refused;
  for (const auto& source : sources({".h", ".cpp", ".cu", ".cuh"}))
    for (const auto& header : includes_of(source))
      if (auto reason = refusal(source, header)) refused.push_back(*reason);
  INFO(listed(refused));
  CHECK(refused.empty());
}

TEST_CASE("an include in quotes names a file of the tree", "[repo]") {
  std::vector<std::string> missing;
  for (const auto& source : sources({".h", ".cpp", ".cu", ".cuh"}))
    for (const auto& header : includes_of(source)) {
      const std::string name = header.substr(1, header.size() - 2);
      if (header.front() == '"' && !is_generated(name) && !std::filesystem::exists(root() / name))
        missing.push_back(source + " includes " + header);
    }
  INFO(listed(missing));
  CHECK(missing.empty());
}

TEST_CASE("the layer table refuses the arrows that must never be drawn", "[repo]") {
  CHECK(refusal("tools/query_kbs.cpp", "<nlohmann/json.hpp>"));
  CHECK(refusal("tools/query_kbs.cpp", "<sqlite3.h>"));
  CHECK(refusal("tools/query_kbs.cpp", "\"server/mcp/stdio/serve.h\""));
  CHECK(refusal("server/mcp/stdio/serve.cpp", "\"tools/all.h\""));
  CHECK(refusal("server/runs/ledger.cpp", "\"kernels/lab.h\""));
  CHECK(refusal("server/main.cpp", "\"kernels/worker/device.h\""));
  CHECK(refusal("kernels/lab/lab.cpp", "\"kernels/worker/device.h\""));
  CHECK(refusal("kernels/lab/lab.cpp", "<cuda_runtime.h>"));
  CHECK(refusal("kernels/timing/statistics.cpp", "\"kernels/lab.h\""));
  CHECK(refusal("kernels/build/builder.cpp", "\"kernels/judge/judge.h\""));
  CHECK(refusal("kernels/worker/loop.cpp", "<cuda_runtime.h>"));
  CHECK(refusal("server/core/hash.cpp", "<boost/json.hpp>"));
  CHECK(refusal("server/core/hash.cpp", "\"result.h\""));
}

TEST_CASE("the layer table allows the arrows of the architecture", "[repo]") {
  CHECK_FALSE(refusal("server/core/hash.cpp", "<openssl/evp.h>"));
  CHECK_FALSE(refusal("server/core/process.cpp", "<sys/wait.h>"));
  CHECK_FALSE(refusal("tools/query_kbs.cpp", "\"kbs/knowledge.h\""));
  CHECK_FALSE(refusal("tools/query_kbs.cpp", "\"tools/all.h\""));
  CHECK_FALSE(refusal("server/runs/runs.cpp", "\"server/facts/contract.h\""));
  CHECK_FALSE(refusal("server/main.cpp", "\"server/mcp/http/serve.h\""));
  CHECK_FALSE(refusal("kernels/worker/cuda/device.cpp", "<cupti_range_profiler.h>"));
  CHECK_FALSE(refusal("kernels/worker/host/device.cpp", "\"kernels/worker/device.h\""));
}

}  // namespace
}  // namespace ratchet::repo
