#include "kernels/source/signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "kernels/source/cpp_tokens.h"
#include "kernels/source/entry_scanner.h"
#include "kernels/source/parameter_reader.h"

namespace ratchet {
namespace {

Result<Signature> read(const Occurrence& occurrence, const std::string& entry,
                       const Aliases& aliases) {
  Signature signature;
  signature.entry = entry;
  signature.extern_c = occurrence.extern_c;
  signature.exception = occurrence.exception;
  for (const auto& part : split_at_commas(occurrence.parameters)) {
    auto parameter = read_parameter(part, aliases);
    if (!parameter)
      return Error{parameter.error().code,
                   fmt::format("{}(…): {}", entry, parameter.error().message),
                   parameter.error().hint};
    signature.parameters.push_back(std::move(parameter->parameter));
    signature.types.push_back(std::move(parameter->type));
  }
  return signature;
}

Status check_names(const Signature& signature) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const auto& name = signature.parameters[i].name;
    if (name.empty())
      return unreadable_signature(fmt::format("{}(…): parameter {} (\"{}\") has no name",
                                              signature.entry, i + 1, signature.types[i]));
    if (!names.insert(name).second)
      return unreadable_signature(
          fmt::format("{}(…): two parameters are named {}", signature.entry, name));
  }
  return {};
}

bool same_types(const Signature& a, const Signature& b) {
  return std::ranges::equal(a.parameters, b.parameters, [](const Parameter& x, const Parameter& y) {
    return x.kind == y.kind && x.dtype == y.dtype && x.is_const == y.is_const;
  });
}

Error no_declaration(const Declarations& found, const std::string& entry) {
  const auto why = found.occurrences.empty()
                       ? "is not defined in this source"
                       : "cannot be used: " + found.occurrences.front().problem;
  auto hint = fmt::format("Define: extern \"C\" void {}(const float* x, float* y, int n).", entry);
  if (!found.others.empty())
    hint += fmt::format(" Or give one of these as `entry`: {}.",
                        fmt::join(found.others | std::views::take(3), ", "));
  else if (found.unbalanced)
    hint = "A { is not closed, so the text after it belongs to another function.";
  else
    hint += " Another name can be given as `entry`.";
  return invalid_argument(fmt::format("entry {} {}", entry, why), hint);
}

/// An occurrence that can be the entry, with its parameters read.
struct Readable {
  Signature signature;
  bool definition = false;
};

/// If one has C linkage, C++ overloads of it are other functions; otherwise, those that cannot be a
/// kernel's entry are skipped. Error: that of the first one that should have been readable.
Result<std::vector<Readable>> readable(const Declarations& found, const std::string& entry) {
  std::vector<Readable> linked, plain;
  std::optional<Error> unreadable;
  for (const auto& occurrence : found.occurrences) {
    if (!occurrence.problem.empty()) continue;
    auto signature = read(occurrence, entry, found.aliases);
    if (signature)
      (occurrence.extern_c ? linked : plain)
          .push_back({*std::move(signature), occurrence.definition});
    else if (occurrence.extern_c)
      return signature.error();
    else if (!unreadable)
      unreadable = signature.error();
  }
  if (linked.empty() && plain.empty())
    return unreadable ? *unreadable : no_declaration(found, entry);
  if (linked.empty()) return plain;
  for (auto& overload : plain)
    if (same_types(overload.signature, linked.front().signature))
      linked.push_back(std::move(overload));
  return linked;
}

/// Merges them into one signature: the definition's names, extern "C" from any of them.
Result<Signature> merged(const std::vector<Readable>& all) {
  const auto defined = std::ranges::find_if(all, &Readable::definition);
  auto signature = (defined == all.end() ? all.front() : *defined).signature;
  for (const auto& other : all) {
    if (!same_types(signature, other.signature))
      return unreadable_signature(
          fmt::format("entry {} is declared with different parameter lists", signature.entry));
    signature.extern_c = signature.extern_c || other.signature.extern_c;
  }
  if (!signature.extern_c)
    signature.notes.emplace_back("extern \"C\" is missing; a generated solve.h declares it");
  if (defined == all.end())
    signature.notes.emplace_back(
        "only a declaration was found here; the definition must be in an included file");
  return signature;
}

/// The macros that compilers predefine.
Macros predefined(const Dialect& dialect) {
  Macros macros;
  const auto define = [&](const std::string& name, std::string_view value) {
    macros[name] = {Token{Token::Kind::number, std::string(value)}};
  };
  for (const auto* name : {"__linux__", "__unix__", "__x86_64__", "__STDC_HOSTED__"})
    define(name, "1");
  define("__cplusplus", "201703");
  define("__GNUC__", "12");
  if (dialect.language == Language::hip)
    for (const auto* name : {"__HIP__", "__HIPCC__", "__HIP_PLATFORM_AMD__", "__clang__"})
      define(name, "1");
  if (dialect.language == Language::cuda) {
    for (const auto* name : {"__CUDACC__", "__NVCC__"}) define(name, "1");
    define("__CUDACC_VER_MAJOR__", "13");
    for (const auto* name : {"CUDART_VERSION", "CUDA_VERSION"}) define(name, "13000");
  }
  for (const auto& flag : dialect.flags) {
    const auto equals = flag.find('=');
    if (flag.starts_with("-D"))
      macros[flag.substr(2, equals == std::string::npos ? equals : equals - 2)] =
          tokenize(equals == std::string::npos ? "1" : flag.substr(equals + 1)).tokens;
    else if (flag.starts_with("-U"))
      macros.erase(flag.substr(2));
  }
  return macros;
}

/// CUTLASS's number types are often written without their namespace, behind `using namespace cute`.
std::string with_namespace(const std::string& type) {
  static const std::set<std::string_view> names{"half_t", "bfloat16_t", "float_e4m3_t",
                                                "float_e5m2_t"};
  auto tokens = tokenize(type).tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("cute")) tokens[i].text = "cutlass";
    const bool bare = i == 0 || !tokens[i - 1].is("::");
    if (bare && names.contains(tokens[i].text)) tokens[i].text = "cutlass::" + tokens[i].text;
  }
  return join(tokens);
}

/// The names of <cstdint> and similar headers as built-in types.
std::string without_library_names(const std::string& type) {
  static const std::map<std::string_view, std::string_view> names{
      {"int8_t", "signed char"},    {"uint8_t", "unsigned char"},
      {"int16_t", "short"},         {"uint16_t", "unsigned short"},
      {"int32_t", "int"},           {"uint32_t", "unsigned int"},
      {"int64_t", "long"},          {"uint64_t", "unsigned long"},
      {"size_t", "unsigned long"},  {"ssize_t", "long"},
      {"ptrdiff_t", "long"},        {"uint", "unsigned int"},
      {"ushort", "unsigned short"}, {"ulong", "unsigned long"}};
  auto tokens = tokenize(type).tokens;
  std::erase_if(tokens, [](const Token& token) { return token.is("std") || token.is("::"); });
  for (auto& token : tokens)
    if (const auto plain = names.find(token.text); plain != names.end()) token.text = plain->second;
  return join(tokens);
}

}  // namespace

std::string_view accepted_parameters() {
  return "Accepted: [const] T* name with T = float, double, half, nv_bfloat16, __nv_fp8_e4m3, "
         "__nv_fp8_e5m2, bool, char, short, int, long, long long (signed or unsigned), int8_t … "
         "uint64_t, size_t; values: the integer types, bool, float, double, cudaStream_t.";
}

Result<Signature> parse_signature(std::string_view source, std::string_view entry,
                                  const Dialect& dialect) {
  if (source.starts_with("\xff\xfe") || source.starts_with("\xfe\xff"))
    return invalid_argument("the source is UTF-16 text", "Save it as UTF-8.");
  const auto tokenized = tokenize(source, predefined(dialect));
  const std::string name(entry);
  const auto entries = readable(declarations_of(tokenized, name, dialect.device_entry), name);
  if (!entries) return entries.error();
  auto signature = merged(*entries);
  if (!signature) return signature;
  if (const auto named = check_names(*signature); !named) return named.error();
  signature->device = dialect.device_entry;
  return signature;
}

std::vector<std::string> kernel_names(std::string_view source) {
  return declarations_of(tokenize(source, predefined({})), "", true).kernels;
}

std::string declaration_header(const Signature& signature, Language language) {
  std::string list;
  std::set<std::string> headers;
  // NVRTC has no C library headers.
  if (!signature.device) headers = {"cstddef", "cstdint", "sys/types.h"};
  for (const auto& written : signature.types) {
    const auto type = with_namespace(signature.device ? without_library_names(written) : written);
    list += (list.empty() ? "" : ", ") + type;
    const auto mentions = [&](std::string_view word) {
      return type.find(word) != std::string::npos;
    };
    if (mentions("cutlass"))
      headers.insert("cutlass/numeric_types.h");
    else if (mentions("half"))
      headers.insert(language == Language::hip ? "hip/hip_fp16.h" : "cuda_fp16.h");
    if (mentions("__hip_bfloat16"))
      headers.insert("hip/hip_bf16.h");
    else if (mentions("hip_bfloat16"))
      headers.insert("hip/hip_bfloat16.h");
    if (mentions("hipStream_t")) headers.insert("hip/hip_runtime.h");
    if (mentions("nv_bfloat16")) headers.insert("cuda_bf16.h");
    if (mentions("nv_fp8")) headers.insert("cuda_fp8.h");
    if (mentions("cudaStream_t")) headers.insert("cuda_runtime.h");
    if (mentions("CUstream")) headers.insert("cuda.h");
    if (mentions("cuda::std::")) headers.insert("cuda/std/cstdint");
  }
  std::string text = "#pragma once\n";
  for (const auto& header : headers) text += fmt::format("#include <{}>\n", header);
  return text + fmt::format("extern \"C\" {}void {}({}){}{};\n",
                            signature.device ? "__global__ " : "", signature.entry, list,
                            signature.exception.empty() ? "" : " ", signature.exception);
}

int line_of_entry(std::string_view source, std::string_view entry) {
  const auto word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  for (auto at = source.find(entry); !entry.empty() && at != std::string_view::npos;
       at = source.find(entry, at + 1)) {
    const auto behind = source.find_first_not_of(" \t\n", at + entry.size());
    const auto line_start = at == 0 ? 0 : source.rfind('\n', at - 1) + 1;
    const bool comment = source.substr(line_start, at - line_start).find("//") != std::string::npos;
    if (comment || (at > 0 && word(static_cast<unsigned char>(source[at - 1])))) continue;
    if (behind == std::string_view::npos || source[behind] != '(') continue;
    return 1 + static_cast<int>(std::ranges::count(source.substr(0, at), '\n'));
  }
  return 0;
}

std::string place_of_entry(const Source& source, std::string_view entry) {
  const int line = line_of_entry(source.text, entry);
  return line == 0 ? source.file_name + ": " : fmt::format("{}:{}: ", source.file_name, line);
}

std::string parameter_difference(const std::string& entry, const std::vector<Parameter>& seen,
                                 const std::string& other, const std::vector<Parameter>& wanted) {
  const auto text = [](const Parameter& one) {
    switch (one.kind) {
      case ParameterKind::tensor:
        return fmt::format("{} (pointer to {})", one.name, name_of(one.dtype));
      case ParameterKind::stream:
        return fmt::format("{} (stream)", one.name);
      case ParameterKind::dim:
      case ParameterKind::scalar:
        break;
    }
    return fmt::format("{} ({})", one.name, name_of(one.dtype));
  };
  for (std::size_t i = 0; i < std::min(seen.size(), wanted.size()); ++i) {
    const bool same =
        (seen[i].kind == ParameterKind::tensor) == (wanted[i].kind == ParameterKind::tensor) &&
        (seen[i].kind == ParameterKind::stream) == (wanted[i].kind == ParameterKind::stream) &&
        seen[i].dtype == wanted[i].dtype;
    if (!same)
      return fmt::format("parameter {} of {} is {}, but that of {} is {}", i + 1, entry,
                         text(seen[i]), other, text(wanted[i]));
  }
  return fmt::format("{} takes {} parameters, but {} takes {}", entry, seen.size(), other,
                     wanted.size());
}

}  // namespace ratchet
