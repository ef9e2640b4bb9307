#include "tests/repo/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ratchet::repo {
namespace {

constexpr std::string_view kCore = "server/core/";
constexpr std::string_view kFacts = "server/facts/";
constexpr std::string_view kSqlite = "server/sqlite/";
constexpr std::string_view kMessage = "server/mcp/message/";
constexpr std::string_view kFeatures = "server/mcp/features/";
constexpr std::string_view kSession = "server/mcp/session/";
constexpr std::string_view kDispatch = "server/mcp/dispatch/";
constexpr std::string_view kMeasureCode = "measure_ptx.h";  // kernels/cuda/measure.ptx as a string

// First match wins; a trailing '/' matches a folder, '*' a beginning, anything else the whole name.
constexpr std::array kLibraries = {
    std::pair{"nlohmann/", "nlohmann_json"},
    std::pair{"fmt/", "fmt"},
    std::pair{"spdlog/", "spdlog"},
    std::pair{"openssl/", "OpenSSL"},
    std::pair{"httplib.h", "httplib"},
    std::pair{"sqlite3.h", "sqlite3"},
    std::pair{"yaml-cpp/", "yaml-cpp"},
    std::pair{"re2/", "re2"},
    std::pair{"zstd.h", "zstd"},
    std::pair{"zdict.h", "zstd"},
    std::pair{"seccomp.h", "seccomp"},
    std::pair{"ffi.h", "ffi"},
    std::pair{"CLI/", "CLI11"},
    std::pair{"catch2/", "Catch2"},
    std::pair{"cuda*", "CUDA"},
    std::pair{"mma.h", "CUDA"},
    std::pair{"cooperative_groups.h", "CUDA"},
    std::pair{"cupti*", "CUDA"},
    std::pair{"nvrtc.h", "CUDA"},
    std::pair{"nvml.h", "CUDA"},
    std::pair{"nvperf*", "CUDA"},
    std::pair{"generated_cuda*", "CUDA"},
    std::pair{"cutlass/", "CUTLASS"},
    std::pair{"cute/", "CUTLASS"},
    // Folders of the kernel and the C library.
    std::pair{"sys/", ""},
    std::pair{"linux/", ""},
    std::pair{"netinet/", ""},
    std::pair{"arpa/", ""},
    std::pair{"net/", ""},
    std::pair{"asm/", ""},
};

constexpr std::array<std::string_view, 26> kSystemHeaders = {
    "unistd.h",   "fcntl.h",  "poll.h",  "signal.h",    "sched.h",     "dlfcn.h",     "pthread.h",
    "netdb.h",    "elf.h",    "link.h",  "spawn.h",     "pwd.h",       "grp.h",       "cpuid.h",
    "libgen.h",   "dirent.h", "time.h",  "immintrin.h", "xmmintrin.h", "x86intrin.h", "cxxabi.h",
    "ucontext.h", "malloc.h", "errno.h", "string.h",    "stdlib.h"};

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('/')) return name.starts_with(pattern);
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

bool contains(const std::vector<std::string_view>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](auto pattern) { return matches(pattern, name); });
}

}  // namespace

const std::vector<Layer>& layers() {
  static const std::vector<Layer> table = {
      {"server/core/", {}, {"nlohmann_json", "OpenSSL"}},
      {"server/facts/", {kCore}, {"nlohmann_json"}},
      {"server/mcp/message/", {kCore}, {"nlohmann_json"}},
      {"server/mcp/features/", {kCore, kMessage}, {"nlohmann_json"}},
      {"server/mcp/session/", {kCore, kMessage}, {"nlohmann_json"}},
      {"server/mcp/dispatch/", {kCore, kMessage, kFeatures, kSession}, {"nlohmann_json"}},
      {"server/mcp/stdio/", {kCore, kMessage, kSession, kDispatch}, {"nlohmann_json"}},
      {"server/mcp/http/", {kCore, kMessage, kSession, kDispatch}, {"nlohmann_json"}},
      {"server/mcp/http/library.cpp",
       {kCore, kDispatch, "server/mcp/http/"},
       {"nlohmann_json", "httplib"}},
      {"server/mcp/",
       {kCore, kMessage, kFeatures, kSession, kDispatch, "server/mcp/stdio/", "server/mcp/http/"},
       {"nlohmann_json"}},
      {"server/sqlite/", {kCore}, {"sqlite3", "zstd"}},
      // Contract, ledger, gate and artifacts of runs: its rooms from the bottom up, then the
      // façade.
      {"server/runs/records/", {kCore, kFacts}, {}},
      {"server/runs/ledger/", {kCore, kFacts, kSqlite, "server/runs/records/"}, {}},
      {"server/runs/rules/", {kCore, kFacts, "server/runs/records/", "server/runs/ledger/"}, {}},
      {"server/runs/render/",
       {kCore, kFacts, "server/runs/records/", "server/runs/ledger/", "server/runs/rules/"},
       {}},
      {"server/runs/imports/", {kCore, kFacts, "server/runs/records/"}, {}},
      {"server/runs/",
       {kCore, kFacts, "server/runs/records/", "server/runs/ledger/", "server/runs/rules/",
        "server/runs/render/"},
       {}},
      {"server/demo/",
       {kCore, kFacts, "server/run_pages.h", "server/terminal.h"},
       {"nlohmann_json"}},
      // What puts the server into clients' configuration files.
      {"server/setup/", {kCore, "server/demo/client.h"}, {"nlohmann_json"}},
      {"server/docs/", {kCore}, {"nlohmann_json"}},
      // What the server offers besides tools: prompts, resources and skills.
      {"server/offers/",
       {kCore, kFacts, kFeatures, "server/mcp/server.h", "server/runs/runs.h", "kbs/knowledge.h"},
       {"nlohmann_json"}},
      // The header and the source of each.
      {"server/terminal.", {kCore}, {}},
      {"server/run_pages.", {kCore}, {"nlohmann_json"}},
      {"server/serve.", {kCore, "server/mcp/server.h", "server/terminal.h"}, {"CLI11"}},
      {"server/options.", {kCore, "server/mcp/server.h", "server/serve.h"}, {"CLI11"}},
      {"server/kbs_command.",
       {kCore, kFacts, "server/options.h", "server/terminal.h", "kbs/commands.h"},
       {}},
      {"server/problem_command.",
       {kCore, kFacts, "server/options.h", "server/terminal.h", "kernels/lab.h"},
       {}},
      {"server/labs_file.", {kCore, "kernels/labs/", "kbs/documents/yaml.h"}, {"yaml-cpp"}},
      {"server/runs_command.",
       {kCore, "server/runs/runs.h", "server/runs/lab_accounts.h", "server/options.h",
        "server/run_pages.h"},
       {}},
      {"server/lab_command.",
       {kCore, "kernels/lab.h", "kernels/labs/", "server/labs_file.h", "server/options.h",
        "server/serve.h", "server/exit_deadline.h"},
       {}},
      {"server/exit_deadline.", {"kernels/process/descendants.h"}, {}},
      {"server/main.cpp",
       {"server/", "tools/", "kbs/", "kernels/lab.h", "kernels/labs/"},
       {"nlohmann_json", "CLI11"}},
      {"kbs/text/", {kCore}, {}},
      {"kbs/documents/", {kCore}, {"yaml-cpp"}},
      {"kbs/index/", {kCore, kSqlite, "kbs/documents/", "kbs/text/"}, {"sqlite3"}},
      {"kbs/corpus/", {kCore, kSqlite, "kbs/documents/", "kbs/index/", "kbs/text/"}, {"yaml-cpp"}},
      {"kbs/query/",
       {kCore, kFacts, kSqlite, "kbs/documents/", "kbs/index/", "kbs/text/"},
       {"re2"}},
      // The façade and the commands on top; outside kbs/ nothing else is included.
      {"kbs/",
       {kCore, kFacts, kSqlite, "kbs/documents/", "kbs/index/", "kbs/corpus/", "kbs/query/"},
       {}},
      {"kbs/index_tool/", {kCore, "kbs/corpus/", "kbs/documents/"}, {}},
      // The laboratory's face, and below it its rooms, each with the rooms it may enter.
      {"kernels/", {kCore, kFacts}, {}},
      {"kernels/source/", {kCore, kFacts}, {}},
      {"kernels/build/", {kCore, kFacts, "kernels/source/", "kernels/process/"}, {"nlohmann_json"}},
      {"kernels/protocol/", {kCore, kFacts}, {}},
      {"kernels/process/", {kCore, kFacts, "kernels/protocol/"}, {}},
      // The walls around foreign code, which the process itself puts up.
      {"kernels/confine/", {kCore, kFacts}, {"seccomp"}},
      {"kernels/contract/",
       {kCore, kFacts, "kernels/source/", "kernels/build/", "kernels/protocol/",
        "kernels/process/"},
       {}},
      // Problems of other suites, made into folders.
      {"kernels/formats/",
       {kCore, kFacts, "kernels/protocol/", "kernels/process/", "kernels/contract/"},
       {}},
      {"kernels/judge/",
       {kCore, kFacts, "kernels/build/", "kernels/protocol/", "kernels/process/",
        "kernels/contract/"},
       {}},
      {"kernels/timing/",
       {kCore, kFacts, "kernels/protocol/", "kernels/process/", "kernels/contract/",
        "kernels/judge/"},
       {}},
      {"kernels/disassembly/", {kCore, kFacts, "kernels/build/", "kernels/process/"}, {}},
      {"kernels/counters/",
       {kCore, kFacts, kSqlite, "kernels/build/", "kernels/protocol/", "kernels/process/",
        "kernels/disassembly/"},
       {"sqlite3"}},
      {"kernels/diagnosis/", {kCore, kFacts, "kernels/contract/"}, {}},
      {"kernels/lab/",
       {kCore, kFacts, "kernels/lab.h", "kernels/lab_requests.h", "kernels/source/",
        "kernels/build/", "kernels/protocol/", "kernels/process/", "kernels/contract/",
        "kernels/formats/", "kernels/judge/", "kernels/timing/", "kernels/disassembly/",
        "kernels/counters/", "kernels/diagnosis/"},
       {}},
      // Labs on other machines.
      {"kernels/labs/",
       {kCore, kFacts, "kernels/lab.h", "kernels/lab_requests.h", "kernels/build/",
        "kernels/contract/"},
       {}},
      {"kernels/nvrtc/", {}, {}},
      // What a GPU is measured with: its device, CUPTI, and on top timer, counters and ceilings.
      {"kernels/measure/device/", {kCore, kMeasureCode}, {"CUDA"}},
      {"kernels/measure/cupti/", {kCore, "kernels/measure/device/"}, {"CUDA"}},
      {"kernels/measure/", {kCore, "kernels/measure/device/", "kernels/measure/cupti/"}, {"CUDA"}},
      {"kernels/worker/",
       {kCore, kFacts, "kernels/confine/", "kernels/protocol/", "kernels/measure/"},
       {"nlohmann_json", "ffi"}},
      {"kernels/worker/host/",
       {kCore, kFacts, "kernels/protocol/", "kernels/measure/", "kernels/worker/"},
       {"nlohmann_json", "ffi"}},
      {"kernels/worker/embedded/",
       {kCore, kFacts, "kernels/confine/", "kernels/protocol/", "kernels/worker/"},
       {"nlohmann_json"}},
      {"kernels/worker/cuda/",
       {kCore, kFacts, "kernels/protocol/", "kernels/measure/", "kernels/worker/"},
       {"nlohmann_json", "ffi", "CUDA"}},
      // Tools see the façades, typed values and nothing of JSON, SQLite, HTTP or CUDA.
      {"tools/",
       {kCore, kFacts, "server/runs/runs.h", "server/runs/lab_accounts.h",
        "server/runs/render/placed_roofline.h", "kernels/lab.h", "kbs/knowledge.h"},
       {}},
      {"bench/",
       {"server/", "kernels/", "kbs/", "tools/", "bench/"},
       {"nlohmann_json", "httplib", "sqlite3", "CLI11"}},
      {"tests/",
       {"server/", "kernels/", "kbs/", "tools/", "tests/"},
       {"nlohmann_json", "OpenSSL", "httplib", "sqlite3", "yaml-cpp", "re2", "zstd", "seccomp",
        "ffi", "CLI11", "Catch2", "CUDA"}},
      {"tests/gpu/frameworks/", {}, {"CUTLASS"}},
  };
  return table;
}

bool is_generated(std::string_view header) {
  return header == kMeasureCode;
}

std::optional<Layer> layer_of(std::string_view path) {
  std::optional<Layer> best;
  for (const auto& layer : layers())
    if (path.starts_with(layer.folder) && (!best || layer.folder.size() > best->folder.size()))
      best = layer;
  return best;
}

std::string_view library_of(std::string_view header) {
  for (const auto& [pattern, library] : kLibraries)
    if (matches(pattern, header)) return library;
  const bool standard =
      header.find('.') == std::string_view::npos && header.find('/') == std::string_view::npos;
  if (standard || std::ranges::find(kSystemHeaders, header) != kSystemHeaders.end()) return "";
  return "unknown";
}

std::optional<std::string> refusal(std::string_view source, std::string_view header) {
  const auto layer = layer_of(source);
  if (!layer)
    return fmt::format("{}: its folder has no layer; add it to tests/repo/layers.cpp", source);
  const std::string_view name = header.substr(1, header.size() - 2);
  if (header.front() == '"') {
    if (is_generated(name) && contains(layer->ours, name)) return {};
    if (name.find('/') == std::string_view::npos)
      return fmt::format("{} includes {}: write the path from the root", source, header);
    // A folder's own headers, but not those of layers inside it.
    const bool own = name.starts_with(layer->folder) && layer_of(name)->folder == layer->folder;
    if (own || contains(layer->ours, name)) return {};
    return fmt::format("{} includes {}: {} may not include it", source, header, layer->folder);
  }
  const auto library = library_of(name);
  if (library.empty() || library == "fmt" || library == "spdlog") return {};
  if (contains(layer->libraries, library)) return {};
  return fmt::format("{} includes {}: {} is not allowed in {}", source, header, library,
                     layer->folder);
}

}  // namespace ratchet::repo
