#include "kernels/build/build_needs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "kernels/build/build_headers.h"
#include "kernels/source/cpp_tokens.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 64;
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

/// The names in `#include <…>` and `#include "…"`, commented-out ones too: a library too many does
/// no harm.
std::vector<std::string> included(std::string_view text) {
  std::vector<std::string> names;
  for (auto at = text.find("include"); at != std::string_view::npos;
       at = text.find("include", at + 7)) {
    const auto begin = text.find_first_not_of(" \t", at + 7);
    if (begin == std::string_view::npos) break;
    const char close = text[begin] == '<' ? '>' : text[begin] == '"' ? '"' : '\0';
    const auto end = close == '\0' ? std::string_view::npos : text.find(close, begin + 1);
    if (end != std::string_view::npos && end - begin < 256)
      names.emplace_back(text.substr(begin + 1, end - begin - 1));
  }
  return names;
}

struct Library {
  std::string_view header;  ///< prefix of the header's name
  std::string_view name;
};
constexpr std::array<Library, 10> kHeaderLibraries{{{"cublas_v2.h", "cublas"},
                                                    {"cublas.h", "cublas"},
                                                    {"cublas_api.h", "cublas"},
                                                    {"cublasLt.h", "cublasLt"},
                                                    {"curand.h", "curand"},
                                                    {"cusparse", "cusparse"},
                                                    {"cufft", "cufft"},
                                                    {"cusolver", "cusolver"},
                                                    {"nvrtc.h", "nvrtc"},
                                                    {"cudaProfiler.h", "cuda"}}};

constexpr std::array<std::string_view, 12> kNewHeaders{
    "concepts", "span",   "ranges",          "bit",       "numbers",  "compare", "latch",
    "barrier",  "format", "source_location", "semaphore", "coroutine"};
constexpr std::array<std::string_view, 5> kNewWords{"concept", "consteval", "constinit", "requires",
                                                    "co_await"};

/// cuTensorMapEncodeTiled( …: driver functions, none of which the runtime exports.
bool is_driver_call(const std::vector<Token>& tokens, std::size_t at) {
  const auto& text = tokens[at].text;
  return text.size() > 3 && text.starts_with("cu") && std::isupper(text[2]) != 0 &&
         at + 1 < tokens.size() && tokens[at + 1].is("(");
}

/// Whether `<<<` occurs in the body of a device function.
bool launches_on_device(const std::vector<Token>& tokens) {
  int depth = 0;
  int body = 0;  // depth inside the device function's body; 0 outside
  bool declared = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& token = tokens[i];
    if (token.is("__global__") || token.is("__device__")) declared = true;
    if (token.is("{")) {
      ++depth;
      if (declared && body == 0) body = depth;
      declared = false;
    } else if (token.is("}")) {
      if (depth == body) body = 0;
      --depth;
    } else if (token.is(";")) {
      declared = false;
    } else if (body > 0 && token.is("<") && i + 2 < tokens.size() && tokens[i + 1].is("<") &&
               tokens[i + 2].is("<")) {
      return true;
    }
  }
  return false;
}

template <std::size_t N>
bool any_in(std::string_view text, const std::array<std::string_view, N>& signs) {
  return std::ranges::any_of(signs,
                             [&](auto sign) { return text.find(sign) != std::string_view::npos; });
}

void add(std::vector<std::string>& list, std::string_view name) {
  if (std::ranges::find(list, name) == list.end()) list.emplace_back(name);
}

}  // namespace

BuildNeeds build_needs(std::string_view text) {
  BuildNeeds needs;
  for (const auto& name : included(text)) {
    for (const auto& library : kHeaderLibraries)
      if (name.starts_with(library.header)) add(needs.libraries, library.name);
    needs.cutlass = needs.cutlass || name.starts_with("cutlass/") || name.starts_with("cute/");
    needs.cuda_types = needs.cuda_types || name.starts_with("cuda");
    if (std::ranges::find(kNewHeaders, name) != kNewHeaders.end()) needs.standard = "c++20";
  }
  const auto tokens = tokenize(text).tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].identifier()) continue;
    if (is_driver_call(tokens, i)) add(needs.libraries, "cuda");
    if (std::ranges::find(kNewWords, tokens[i].text) != kNewWords.end()) needs.standard = "c++20";
  }
  needs.device_launches = launches_on_device(tokens);
  // Names that CUTLASS and CuTe derive from an architecture, and the instructions themselves.
  constexpr std::array<std::string_view, 14> kExact{
      "wgmma", "setmaxnreg", "tcgen05", "GMMA", "Sm90",   "Sm100",  "Sm120",
      "SM90_", "SM100_",     "SM120_",  "UMMA", "kind::", "e2m1x2", "tensormap.replace"};
  needs.exact_arch = any_in(text, kExact) || text.find("warpgroup_arrive") != std::string::npos;
  return needs;
}

std::vector<LocalHeader> local_headers(const Source& source) {
  std::vector<LocalHeader> found;
  if (source.folder.empty()) return found;
  std::error_code none;
  const auto folder = fs::weakly_canonical(source.folder, none);
  std::set<fs::path> seen;
  std::size_t bytes = source.text.size();
  std::vector<std::pair<fs::path, std::string>> open{{folder, source.text}};
  while (!open.empty() && seen.size() < kMostFiles && bytes < kMostBytes) {
    const auto [place, text] = std::move(open.back());
    open.pop_back();
    for (const auto& name : included(text)) {
      for (const auto& root : {place, folder}) {
        const auto path = fs::weakly_canonical(root / name, none);
        if (!may_include(path, source) || !fs::is_regular_file(path, none)) continue;
        if (!seen.insert(path).second) break;
        if (auto header = read_file(path, kMostBytes)) {
          bytes += header->size();
          open.emplace_back(path.parent_path(), *header);
          found.push_back({path, *std::move(header)});
        }
        break;
      }
    }
  }
  return found;
}

std::string with_local_headers(const Source& source) {
  std::string all = source.text;
  for (const auto& header : local_headers(source)) all += "\n" + header.text;
  return all;
}

bool reads_toolkit_alone(std::string_view text) {
  constexpr std::string_view kHarmless =
      " define undef if ifdef ifndef else elif endif pragma error warning line ";
  const std::string word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  // Alternative spellings of # and continued lines are left to the slow path.
  for (const auto* other : {"%:",
                            "?"
                            "?=",
                            "\\\n", "\\\r"})
    if (text.find(other) != std::string_view::npos) return false;
  for (auto at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    const auto begin = std::min(text.find_first_not_of(" \t", at + 1), text.size());
    const auto end = std::min(text.find_first_not_of(word, begin), text.size());
    const auto directive = text.substr(begin, end - begin);
    if (directive != "include") {
      const auto known = " " + std::string(directive) + " ";
      if (directive.empty() || kHarmless.find(known) == std::string_view::npos) return false;
      continue;
    }
    const auto open = std::min(text.find_first_not_of(" \t", end), text.size());
    const auto close = text.find('>', open);
    if (open == text.size() || text[open] != '<' || close == std::string_view::npos) return false;
    const auto name = text.substr(open + 1, close - open - 1);
    if (name.starts_with("/") || name.find("..") != std::string_view::npos ||
        name.find_first_not_of(word + "./") != std::string_view::npos)
      return false;
  }
  return true;
}

std::string exact_arch(const std::string& arch, const BuildNeeds& needs) {
  const bool plain =
      arch.starts_with("sm_") && std::isdigit(static_cast<unsigned char>(arch.back()));
  const bool has_variant = plain && (arch.size() > 5 || arch >= "sm_90");
  return has_variant && needs.exact_arch ? arch + "a" : arch;
}

}  // namespace ratchet
