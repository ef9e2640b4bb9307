#include "kernels/compiler_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace ratchet {
namespace {

std::string capped(std::string_view text) {
  if (text.size() <= kMaxDiagnosticText) return std::string(text);
  return std::string(text.substr(0, kMaxDiagnosticText)) + "…";
}

std::optional<std::int64_t> number_before(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  auto begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1]))) --begin;
  std::int64_t value = 0;
  const auto read = std::from_chars(line.data() + begin, line.data() + at, value);
  return read.ec == std::errc{} ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> number_after(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto* begin = line.data() + at + words.size();
  const auto read = std::from_chars(begin, line.data() + line.size(), value);
  return read.ec == std::errc{} ? std::optional(value) : std::nullopt;
}

template <class T>
void raise(std::optional<T>& most, const std::optional<std::int64_t>& seen) {
  if (seen) most = std::max(most.value_or(0), static_cast<T>(*seen));
}

/// ptxas -v: two lines a kernel.
void read_resources(std::string_view line, CompilerOutput& output) {
  raise(output.registers, number_after(line, "Used "));
  if (line.find("Used ") != std::string_view::npos)
    raise(output.shared_bytes, number_before(line, " bytes smem").value_or(0));
  raise(output.stack_bytes, number_before(line, " bytes stack frame"));
  const auto stores = number_before(line, " bytes spill stores");
  const auto loads = number_before(line, " bytes spill loads");
  if (stores && loads) raise(output.spill_bytes, *stores + *loads);
}

/// Splits "file.cpp:12:5" and "file.cu(12)" into file and line.
void read_place(std::string_view place, Diagnostic& diagnostic) {
  const auto open = place.rfind('(');
  if (open != std::string_view::npos && place.ends_with(')')) {
    diagnostic.file = place.substr(0, open);
    diagnostic.line = static_cast<int>(number_after(place.substr(open), "(").value_or(0));
    return;
  }
  const auto colon = place.find(':');
  diagnostic.file = place.substr(0, colon);
  if (colon != std::string_view::npos)
    diagnostic.line = static_cast<int>(number_after(place.substr(colon), ":").value_or(0));
}

struct Marker {
  std::string_view text;
  bool error;
};
// The blanks before the colon are ptxas's; "error #20-D" and "fatal error" are covered by "error".
constexpr std::array<Marker, 8> kMarkers{{{": fatal error: ", true},
                                          {": error: ", true},
                                          {": error #", true},
                                          {"; error   : ", true},
                                          {"error   : ", true},
                                          {"fatal   : ", true},
                                          {": warning: ", false},
                                          {": warning #", false}}};

void add(std::vector<Diagnostic>& list, Diagnostic diagnostic) {
  if (list.size() < kMaxDiagnostics) list.push_back(std::move(diagnostic));
}

bool linker_error(std::string_view line) {
  return line.find("undefined reference to") != std::string_view::npos ||
         line.find("cannot find -l") != std::string_view::npos ||
         line.find("multiple definition of") != std::string_view::npos;
}

void read_line(std::string_view line, CompilerOutput& output) {
  if (line.find("ptxas info") != std::string_view::npos || line.starts_with("    ")) {
    read_resources(line, output);
    return;
  }
  if (linker_error(line)) {
    const auto at = line.rfind(": ");
    add(output.errors, {"", 0, capped(at == std::string_view::npos ? line : line.substr(at + 2))});
    return;
  }
  for (const auto& marker : kMarkers) {
    const auto at = line.find(marker.text);
    if (at == std::string_view::npos) continue;
    Diagnostic diagnostic;
    // The place of a ptxas message is in a file of its own making.
    if (!line.starts_with("ptxas")) read_place(line.substr(0, at), diagnostic);
    const bool number = marker.text.ends_with('#');
    const auto skip = marker.text.size() - (number ? 1 : 0);
    diagnostic.message = capped(line.substr(at + skip));
    add(marker.error ? output.errors : output.warnings, std::move(diagnostic));
    return;
  }
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

CompilerOutput parse_compiler_output(std::string_view text) {
  CompilerOutput output;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    read_line(text.substr(at, end - at), output);
    at = end + 1;
  }
  return output;
}

FailureClass classify_failure(std::string_view text, const std::string& arch) {
  const bool missing = has(text, "No such file or directory") && has(text, "fatal error");
  if (missing &&
      (has(text, "torch/") || has(text, "ATen/") || has(text, "c10/") || has(text, "pybind11")))
    return {"torch_headers",
            "Kernels are built without PyTorch: take raw pointers in solve() instead of tensors."};
  if (missing)
    return {"missing_header",
            "Local headers must lie beside the source; give `path` instead of `text` to use them. "
            "CUTLASS is found by CUTLASS_PATH."};
  if (has(text, "not supported on .target") || has(text, "requires .target") ||
      has(text, "cannot be compiled for architecture"))
    return {"wrong_arch", fmt::format("The source uses instructions that {} lacks; name the exact "
                                      "variant as `arch` (sm_90a, sm_100a) if the device has it.",
                                      arch)};
  if (has(text, "uses too much shared data"))
    return {"too_much_shared",
            "Static shared memory ends at 48 KB: use extern __shared__ and cudaFuncSetAttribute("
            "cudaFuncAttributeMaxDynamicSharedMemorySize)."};
  if (has(text, "undefined reference to"))
    return {"unresolved_symbol",
            "Everything called must be defined in the source or its headers; CUDA libraries are "
            "linked by `flags` at create_run (-lcublas)."};
  if (has(text, "cannot find -l"))
    return {"unresolved_library", "That library is not installed on this machine."};
  if (has(text, "out of memory") || has(text, "cannot allocate memory") ||
      has(text, "virtual memory exhausted"))
    return {"out_of_memory", "The compiler ran out of memory: instantiate fewer templates."};
  return {"compile_error", "Mend the errors and submit again; this costs no retry."};
}

}  // namespace ratchet
