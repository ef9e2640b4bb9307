#include "kernels/source/launch.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "kernels/source/expression.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr std::string_view kForm =
    "Write: // launch: grid = ceil_div(n, 256); block = 256; shared = 0 (up to three expressions "
    "over dims each, with commas between).";

Error bad(std::string message) {
  return invalid_argument("launch: " + std::move(message), std::string(kForm));
}

/// The parts between `separator`s outside parentheses.
std::vector<std::string> pieces(std::string_view text, char separator) {
  std::vector<std::string> list;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : separator;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (i < text.size() && (c != separator || depth > 0)) continue;
    list.emplace_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return list;
}

Result<Launch> read_line(std::string_view line) {
  Launch launch;
  for (const auto& part : pieces(line, ';')) {
    if (part.empty()) continue;
    const auto equals = part.find('=');
    const auto name = trimmed(std::string_view(part).substr(0, equals));
    if (equals == std::string::npos) return bad(fmt::format("\"{}\" has no =", part));
    const auto value = trimmed(std::string_view(part).substr(equals + 1));
    if (name == "grid")
      launch.grid = pieces(value, ',');
    else if (name == "block")
      launch.block = pieces(value, ',');
    else if (name == "shared")
      launch.shared = value;
    else
      return bad(fmt::format("\"{}\" is not grid, block or shared", name));
  }
  return launch;
}

/// Values of up to three expressions, each within its limit.
Result<std::int64_t> product(std::string_view what, const std::vector<std::string>& parts,
                             const std::array<std::int64_t, 3>& limits, const Dims& dims) {
  if (parts.empty() || parts.size() > 3)
    return bad(
        fmt::format("{} has {} comma-separated parts; it must have 1 to 3", what, parts.size()));
  std::int64_t all = 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = evaluate_integer(parts[i], dims);
    if (!value) return bad(fmt::format("{}: {}", what, value.error().message));
    if (*value < 1 || *value > limits[i])
      return bad(fmt::format("{}: part {}, \"{}\", is {} at these sizes; it must be 1 to {}", what,
                             i + 1, parts[i], *value, limits[i]));
    all = i == 0 ? *value : std::min<std::int64_t>(all * *value, INT64_C(1) << 40U);
  }
  return all;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Translates a checked expression to C++. Numbers are written anew: "010" is octal there, "1e3" no
/// integer.
std::string in_cpp(std::string_view expression) {
  std::string text;
  while (!expression.empty()) {
    const auto c = static_cast<unsigned char>(expression.front());
    std::size_t taken = 1;
    double number = 0;
    if (std::isdigit(c) || c == '.') {
      const auto* begin = expression.data();
      const auto [end, failed] = std::from_chars(begin, begin + expression.size(), number);
      taken = std::max<std::size_t>(static_cast<std::size_t>(end - begin), 1);
      text += fmt::format("i64({:.0f})", number);
    } else if (std::isalpha(c) || c == '_') {
      while (taken < expression.size() && is_word(expression[taken])) ++taken;
      const auto name = expression.substr(0, taken);
      const bool function = trimmed(expression.substr(taken)).starts_with('(');
      text += function ? fmt::format("f_{}", name) : fmt::format("i64(a_{})", name);
    } else {
      text += expression.front();
    }
    expression.remove_prefix(taken);
  }
  return text;
}

std::string extent(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < 3; ++i)
    text += fmt::format("{}unsigned({})", i == 0 ? "" : ", ",
                        i < parts.size() ? in_cpp(parts[i]) : "1");
  return text;
}

std::string_view passed_as(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::tensor) return "void*";
  switch (parameter.dtype) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::boolean:
      return "bool";
    case DType::i8:
      return "signed char";
    case DType::u8:
      return "unsigned char";
    case DType::i16:
      return "short";
    case DType::u16:
      return "unsigned short";
    case DType::i32:
      return "int";
    case DType::u32:
      return "unsigned";
    default:
      return "long long";
  }
}

// Declares only the runtime functions it calls, which keeps its compilation fast.
constexpr std::string_view kPrelude = R"(using i64 = long long;
struct Extent { unsigned x, y, z; };
extern "C" {
int cudaLibraryLoadData(void**, const void*, void*, void**, unsigned, void*, void**, unsigned);
int cudaLibraryGetKernel(void**, void*, const char*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaLaunchKernel(const void*, Extent, Extent, void**, unsigned long, void*);
extern const char kernel_image[] __attribute__((visibility("hidden")));
}
static i64 f_ceil_div(i64 a, i64 b) { return b == 0 ? 0 : (a + b - 1) / b; }
static i64 f_min(i64 a) { return a; }
static i64 f_max(i64 a) { return a; }
template <class... T> static i64 f_min(i64 a, T... b) { i64 c = f_min(b...); return a < c ? a : c; }
template <class... T> static i64 f_max(i64 a, T... b) { i64 c = f_max(b...); return a > c ? a : c; }
)";

constexpr std::string_view kBody = R"(  static void* kernel = nullptr;
  if (!kernel) {{
    void* library = nullptr;
    if (cudaLibraryLoadData(&library, kernel_image, 0, 0, 0, 0, 0, 0) != 0) return;
    if (cudaLibraryGetKernel(&kernel, library, "{0}") != 0) return;
  }}
  static i64 allowed = 48 * 1024;
  const i64 shared = {1};
  if (shared > allowed) {{
    if (cudaFuncSetAttribute(kernel, 8, int(shared)) != 0) return;
    allowed = shared;
  }}
  void* arguments[] = {{{2}nullptr}};
  cudaLaunchKernel(kernel, Extent{{{3}}}, Extent{{{4}}}, arguments, shared, nullptr);
}}
)";

}  // namespace

Result<std::optional<Launch>> launch_line(std::string_view source) {
  constexpr std::string_view kMark = "launch:";
  for (std::size_t at = 0; at < source.size();) {
    const auto end = std::min(source.find('\n', at), source.size());
    auto line = trimmed(source.substr(at, end - at));
    at = end + 1;
    if (!line.starts_with("//")) continue;
    line = trimmed(line.substr(2));
    if (!line.starts_with(kMark)) continue;
    auto launch = read_line(line.substr(kMark.size()));
    if (!launch) return launch.error();
    return std::optional<Launch>(*std::move(launch));
  }
  return std::optional<Launch>{};
}

Status check_launch(const Launch& launch, const Dims& dims) {
  const auto grid = product("grid", launch.grid, {2147483647, 65535, 65535}, dims);
  if (!grid) return grid.error();
  const auto block = product("block", launch.block, {1024, 1024, 64}, dims);
  if (!block) return block.error();
  if (*block > 1024)
    return bad(fmt::format("block: it has {} threads in all; at most 1024 are allowed", *block));
  const auto shared = evaluate_integer(launch.shared, dims);
  if (!shared) return bad("shared: " + shared.error().message);
  if (*shared < 0 || *shared > 1 << 20)
    return bad(fmt::format("shared (\"{}\") is {} bytes", launch.shared, *shared));
  return {};
}

std::string image_source() {
  return fmt::format(
      ".section .nv_fatbin,\"a\"\n.balign 8\n.hidden kernel_image\n.global kernel_image\n"
      "kernel_image:\n.incbin \"{}\"\n.section .note.GNU-stack,\"\"\n",
      kImageFile);
}

std::string launch_stub(const Launch& launch, const Signature& kernel,
                        const std::vector<std::string>& more_dims) {
  std::string parameters, arguments;
  for (const auto& parameter : kernel.parameters) {
    parameters += fmt::format("{}{} a_{}", parameters.empty() ? "" : ", ", passed_as(parameter),
                              parameter.name);
    arguments += fmt::format("&a_{}, ", parameter.name);
  }
  for (const auto& name : more_dims)
    parameters += fmt::format("{}i64 a_{}", parameters.empty() ? "" : ", ", name);
  std::string text(kPrelude);
  text += fmt::format("extern \"C\" void {}({}) {{\n", kernel.entry, parameters);
  return text + fmt::format(fmt::runtime(kBody), kernel.entry, in_cpp(launch.shared), arguments,
                            extent(launch.grid), extent(launch.block));
}

}  // namespace ratchet
