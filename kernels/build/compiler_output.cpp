#include "kernels/build/compiler_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "server/core/text.h"

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

/// Clang's remarks about a kernel for AMD GPUs, one line each.
void read_remark(std::string_view line, CompilerOutput& output) {
  raise(output.registers, number_after(line, " VGPRs: "));
  raise(output.shared_bytes, number_after(line, "LDS Size [bytes/block]: "));
  raise(output.stack_bytes, number_after(line, "ScratchSize [bytes/lane]: "));
  constexpr std::int64_t kBytesOfRegister = 4;
  if (const auto spilled = number_after(line, "VGPRs Spill: "))
    raise(output.spill_bytes, *spilled * kBytesOfRegister);
}

/// ptxas -v prints two lines per kernel.
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
// The spaces before the colon are ptxas's; "error #20-D" and "fatal error" match "error".
constexpr std::array<Marker, 9> kMarkers{{{": fatal error: ", true},
                                          {": catastrophic error: ", true},
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
         line.find("multiple definition of") != std::string_view::npos ||
         line.find("final link failed: ") != std::string_view::npos;
}

void read_line(std::string_view line, CompilerOutput& output) {
  if (line.find("ptxas info") != std::string_view::npos || line.starts_with("    ") ||
      line.starts_with("ptxas   ")) {
    read_resources(line, output);
    return;
  }
  if (line.find(": remark: ") != std::string_view::npos) {
    read_remark(line, output);
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
    // ptxas reports a position in a generated file.
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

/// The file or library name after `mark`.
std::string word_after(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + mark.size());
  return std::string(rest.substr(0, rest.find_first_of(" :\n'\"`,;")));
}

struct KnownFailure {
  std::string_view sign;
  std::string_view name;
  std::string_view hint;
};
constexpr std::string_view kFewerTemplates =
    "The compiler ran out of memory: instantiate fewer templates.";
// The first match wins. For failures that name no header, architecture or library.
constexpr std::array<KnownFailure, 32> kKnownFailures{
    {{"No space left on device", "disk_full",
      "The disk with the state folder of ratchet, or of its lab, is full: free some space there "
      "(`ratchet gc` removes what can be made again), or give it another --state-dir."},
     {"uses too much shared data", "too_much_shared",
      "Static shared memory is limited to 48 KB: use extern __shared__ and cudaFuncSetAttribute("
      "cudaFuncAttributeMaxDynamicSharedMemorySize)."},
     {"local memory (", "too_much_shared",
      "A work-group of AMD GPUs has at most 64 KB of LDS (gfx950: 160 KB)."},
     {"invalid target ID", "wrong_arch",
      "This hipcc does not know that target: name another `arch`, or install a later ROCm."},
     {"cannot find ROCm device library", "wrong_arch",
      "The installed device libraries lack that target: name another `arch`, or install a later "
      "ROCm."},
     {"requires separate compilation mode", "device_launch",
      "A kernel may launch kernels if the source's entry is a host function and <<< >>> is written "
      "in "
      "the body of a __global__ or __device__ function, not in a macro."},
     {"unterminated comment", "unterminated_comment",
      "A /* is not closed: end it with */, or remove the text after the code."},
     {"has \"C\" linkage", "signature_mismatch",
      "The compiler sees other types for the entry than were read from the source: write them out "
      "instead of hiding them in macros and headers."},
     {"conflicting declaration of", "signature_mismatch",
      "The compiler sees other types for the entry than were read from the source: write them out "
      "instead of hiding them in macros and headers."},
     {"unsupported GNU version", "host_compiler",
      "This nvcc does not work with this g++: install the version it names."},
     {"only available with -std=c++", "cxx_standard",
      "The source needs a later C++ standard: give flags [\"-std=c++20\"] at create_run."},
     {"requires at least C++", "cxx_standard",
      "The source needs a later C++ standard: give flags [\"-std=c++20\"] at create_run."},
     {"requires C++20", "cxx_standard",
      "The source needs a later C++ standard: give flags [\"-std=c++20\"] at create_run."},
     {"is a C++20 feature", "cxx_standard",
      "The source needs a later C++ standard: give flags [\"-std=c++20\"] at create_run."},
     {"is a C++23 feature", "cxx_standard",
      "nvcc supports at most C++20: do not use that feature."},
     {"calling a __host__ function", "host_call_on_device",
      "Device code calls a host function: mark it __device__ (constexpr functions are allowed), "
      "or use CUDA's own (fmaxf, cuda::std::)."},
     {"calling a constexpr __host__ function", "host_call_on_device",
      "Device code calls a host function: mark it __device__."},
     {"identifier \"__shfl", "removed_api",
      "The warp functions take a mask: __shfl_down_sync(0xffffffff, …) and so on."},
     {"identifier \"__ballot\"", "removed_api", "Use __ballot_sync(0xffffffff, …)."},
     {"identifier \"__any\"", "removed_api", "Use __any_sync(0xffffffff, …)."},
     {"identifier \"__all\"", "removed_api", "Use __all_sync(0xffffffff, …)."},
     {"texture is not a template", "removed_api",
      "Texture references were removed: use texture objects, or __ldg."},
     {"identifier \"cudaBindTexture", "removed_api",
      "Texture references were removed: use texture objects, or __ldg."},
     {"\"cudaDeviceProp\" has no member", "removed_api",
      "This toolkit removed that field: use cudaDeviceGetAttribute."},
     {"identifier \"torch\"", "torch_headers",
      "Kernels are built without PyTorch: take raw pointers in solve() instead of tensors."},
     {"out of memory", kOutOfMemory, kFewerTemplates},
     {"cannot allocate memory", kOutOfMemory, kFewerTemplates},
     {"virtual memory exhausted", kOutOfMemory, kFewerTemplates},
     // What g++, nvcc and clang say of a pass that the system killed.
     {"Killed signal terminated program", kOutOfMemory, kFewerTemplates},
     {"died due to signal 9", kOutOfMemory, kFewerTemplates},
     {"unable to execute command: Killed", kOutOfMemory, kFewerTemplates},
     {"Unsupported gpu architecture", "wrong_arch",
      "This nvcc does not know that target: leave `arch` out, or install a later toolkit."}}};

std::optional<FailureClass> missing_header(std::string_view text) {
  constexpr std::string_view kAbsent = ": No such file or directory", kOfClang = "' file not found";
  const auto end = std::min(text.find(kAbsent), text.find(kOfClang));
  if (end == std::string_view::npos || !has(text, "fatal error")) return std::nullopt;
  const auto begin = text.find_last_of(" \n'", end - 1) + 1;
  const auto header = text.substr(begin, end - begin);
  const auto starts = [&](std::initializer_list<std::string_view> prefixes) {
    return starts_with_any(header, prefixes);
  };
  if (starts({"torch/", "ATen/", "c10/", "pybind11", "Python.h"}))
    return FailureClass{
        "torch_headers",
        "Kernels are built without PyTorch: take raw pointers in solve() instead of tensors."};
  std::string hint =
      "Local headers must lie beside the source (its folder and below); give `path` instead of "
      "`text` to use them.";
  if (starts({"cutlass/", "cute/"}))
    hint = "Set CUTLASS_PATH to a checkout of CUTLASS (4.x for Blackwell).";
  else if (starts({"cudnn", "cublas", "cufft", "curand", "cusparse", "cusolver", "nccl", "npp"}))
    hint = fmt::format(
        "{} is not installed: install that library of the toolkit, or do not use it.", header);
  else if (starts({"helper_", "windows.h", "conio.h"}))
    hint = fmt::format(
        "{} is not part of the toolkit: copy it beside the source, or do not use it.", header);
  return FailureClass{"missing_header", hint};
}

FailureClass unresolved_symbol(std::string_view text) {
  const auto symbol = word_after(text, "undefined reference to `");
  for (const auto* library : {"cublasLt", "cublas", "cusparse", "cufft", "curand", "cusolver"})
    if (symbol.starts_with(library))
      return {"unresolved_library", fmt::format("{} is in lib{}: include its header, or give flags "
                                                "[\"-l{}\"] at create_run.",
                                                symbol, library, library)};
  return {"unresolved_symbol",
          "Everything called must be defined in the source or its headers; CUDA libraries are "
          "linked when their header is included, or by `flags` at create_run (-lcublas)."};
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
  // Landlock lets a compiler open only what a source may include.
  if (has(text, ": Permission denied")) return {"forbidden_include", std::string(kReadableHeaders)};
  if (auto missing = missing_header(text)) return *std::move(missing);
  for (const auto& known : kKnownFailures)
    if (has(text, known.sign)) return {std::string(known.name), std::string(known.hint)};
  if (has(text, "not supported on .target") || has(text, "requires .target") ||
      has(text, "cannot be compiled for architecture") || has(text, "not supported on .arch"))
    return {"wrong_arch", fmt::format("The source uses instructions that {} lacks; name the exact "
                                      "variant as `arch` (sm_90a, sm_100a) if the device has it.",
                                      arch)};
  if (has(text, "cannot find -l"))
    return {"unresolved_library",
            fmt::format("lib{} is not installed on this machine: install the toolkit's package of "
                        "that name, or do not use it.",
                        word_after(text, "cannot find -l"))};
  if (has(text, "undefined reference to")) return unresolved_symbol(text);
  return {"compile_error", "Correct the errors in the source."};
}

}  // namespace ratchet
