#include "kernels/source/parameter_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "kernels/source/signature.h"

namespace ratchet {
namespace {

const std::map<std::string_view, DType>& plain_types() {
  using enum DType;
  static const std::map<std::string_view, DType> types{{"float", f32},
                                                       {"double", f64},
                                                       {"half", f16},
                                                       {"__half", f16},
                                                       {"_Float16", f16},
                                                       {"half_t", f16},
                                                       {"__nv_bfloat16", bf16},
                                                       {"nv_bfloat16", bf16},
                                                       {"bfloat16_t", bf16},
                                                       {"hip_bfloat16", bf16},
                                                       {"__hip_bfloat16", bf16},
                                                       {"bool", boolean},
                                                       {"int8_t", i8},
                                                       {"int16_t", i16},
                                                       {"int32_t", i32},
                                                       {"int64_t", i64},
                                                       {"uint8_t", u8},
                                                       {"uint16_t", u16},
                                                       {"uint32_t", u32},
                                                       {"uint64_t", u64},
                                                       {"size_t", u64},
                                                       {"ssize_t", i64},
                                                       {"ptrdiff_t", i64},
                                                       {"uint", u32},
                                                       {"ushort", u16},
                                                       {"ulong", u64},
                                                       {"__nv_fp8_e4m3", f8_e4m3},
                                                       {"float_e4m3_t", f8_e4m3},
                                                       {"__nv_fp8_e5m2", f8_e5m2},
                                                       {"float_e5m2_t", f8_e5m2}};
  return types;
}

/// "unsigned", "long long int", …: the words may come in any order.
std::optional<DType> integer_type(const std::vector<std::string>& words) {
  using enum DType;
  int longs = 0;
  bool is_unsigned = false, is_signed = false, is_char = false, is_short = false, is_int = false;
  for (const auto& word : words) {
    if (word == "long")
      ++longs;
    else if (word == "unsigned")
      is_unsigned = true;
    else if (word == "signed")
      is_signed = true;
    else if (word == "char")
      is_char = true;
    else if (word == "short")
      is_short = true;
    else if (word == "int")
      is_int = true;
    else
      return std::nullopt;
  }
  if (longs > 2 || (is_signed && is_unsigned) || is_char + is_short + (longs > 0) > 1)
    return std::nullopt;
  if (is_char) return is_int ? std::nullopt : std::optional(is_unsigned ? u8 : i8);
  if (is_short) return is_unsigned ? u16 : i16;
  if (longs > 0) return is_unsigned ? u64 : i64;
  return is_unsigned ? u32 : i32;
}

bool is_integer_word(const std::string& word) {
  static const std::set<std::string_view> words{"unsigned", "signed", "char",
                                                "short",    "int",    "long"};
  return words.contains(word);
}

std::optional<DType> type_of(const std::vector<std::string>& words) {
  if (words.size() == 1) {
    const auto found = plain_types().find(words[0]);
    if (found != plain_types().end()) return found->second;
  }
  return words.empty() ? std::nullopt : integer_type(words);
}

bool is_stream(const std::vector<std::string>& words, int stars) {
  return words.size() == 1 &&
         ((stars == 0 &&
           (words[0] == "cudaStream_t" || words[0] == "CUstream" || words[0] == "hipStream_t")) ||
          (stars == 1 && words[0] == "CUstream_st"));
}

/// Removes what does not affect the type: attributes, restrict, defaults, `std::`.
Tokens without_decoration(const Tokens& tokens) {
  static const std::set<std::string_view> noise{"__restrict__",     "__restrict", "restrict",
                                                "volatile",         "struct",     "register",
                                                "__grid_constant__"};
  static const std::set<std::string_view> scopes{"std", "cutlass", "cute", "cuda"};
  Tokens out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& token = tokens[i];
    const bool scope =
        scopes.contains(token.text) && i + 1 < tokens.size() && tokens[i + 1].is("::");
    if (token.is("=")) break;
    if (token.is("[[")) {
      i = behind_group(tokens, i) - 1;
    } else if (token.is("__attribute__") || token.is("__align__") || token.is("alignas")) {
      if (i + 1 < tokens.size()) i = behind_group(tokens, i + 1) - 1;
    } else if (scope) {
      ++i;
    } else if (!noise.contains(token.text) && !token.is("::")) {
      out.push_back(token);
    }
  }
  return out;
}

/// A parameter split into its parts, before its type is looked up.
struct Declarator {
  std::vector<std::string> words;  ///< of the base type
  std::string name;
  int stars = 0;
  bool const_base = false;
};

std::optional<Declarator> take_apart(const Tokens& tokens) {
  Declarator declarator;
  std::vector<std::string> after_star;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& token = tokens[i];
    if (token.is("const")) {
      declarator.const_base = declarator.const_base || declarator.stars == 0;
    } else if (token.is("*")) {
      ++declarator.stars;
    } else if (token.is("[")) {
      ++declarator.stars;  // an array parameter is a pointer
      i = behind_group(tokens, i) - 1;
    } else if (token.identifier()) {
      (declarator.stars ? after_star : declarator.words).push_back(token.text);
    } else {
      return std::nullopt;
    }
  }
  if (after_star.size() > 1) return std::nullopt;
  if (!after_star.empty()) {
    declarator.name = after_star[0];
  } else if (declarator.words.size() > 1 && !is_integer_word(declarator.words.back())) {
    declarator.name = declarator.words.back();
    declarator.words.pop_back();
  }
  return declarator;
}

Result<Parameter> classify(const Declarator& declarator, const std::string& text) {
  Parameter parameter;
  parameter.name = declarator.name;
  if (is_stream(declarator.words, declarator.stars)) {
    parameter.kind = ParameterKind::stream;
    parameter.dtype = DType::u64;
    return parameter;
  }
  const auto type = type_of(declarator.words);
  if (!type || declarator.stars > 1)
    return unreadable_signature(fmt::format("the type of parameter \"{}\" is not supported", text));
  parameter.dtype = *type;
  parameter.is_const = declarator.stars == 1 && declarator.const_base;
  if (declarator.stars == 1) return parameter;
  // size_t and long are passed the same way: in one 64-bit register.
  if (*type == DType::u64) parameter.dtype = DType::i64;
  const bool small_float = is_floating(*type) && *type != DType::f32 && *type != DType::f64;
  if (small_float)
    return unreadable_signature(fmt::format(
        "parameter \"{}\" is a small floating-point value: pass it as float and convert it inside",
        text));
  const bool scalar = is_floating(*type) || *type == DType::boolean;
  parameter.kind = scalar ? ParameterKind::scalar : ParameterKind::dim;
  return parameter;
}

/// The type as spelled, without name, default and restrict; for the declaration.
std::string spelled_type(const Tokens& tokens, const std::string& name) {
  Tokens type;
  bool array = false;
  for (const auto& token : tokens) {
    array = token.is("[");
    if (array || token.is("=")) break;
    if (token.text.starts_with("__restrict") || token.is("restrict")) continue;
    type.push_back(token);
  }
  // A parameter may have the name of its type: `size_t size_t`.
  if (const auto last = std::ranges::find(type | std::views::reverse, name, &Token::text);
      last != std::ranges::rend(type))
    type.erase(std::prev(last.base()));
  return join(type) + (array ? "*" : "");
}

/// `const P x` with `typedef float* P` is a constant pointer to writable data.
Tokens without_const_of_pointers(const Tokens& tokens, const Aliases& aliases) {
  const auto pointer = [&](const Token& token) {
    const auto alias = aliases.find(token.text);
    if (alias == aliases.end() || !alias->second.type) return false;
    return std::ranges::any_of(expanded(alias->second.tokens, aliases),
                               [](const Token& inner) { return inner.is("*"); });
  };
  if (std::ranges::none_of(tokens, pointer)) return tokens;
  Tokens out;
  std::ranges::copy_if(tokens, std::back_inserter(out),
                       [](const Token& token) { return !token.is("const"); });
  return out;
}

// Aliases of a type are few and short. Aliases of aliases may multiply without end.
constexpr int kMostAliases = 8;
constexpr int kMostSteps = 1000;

/// Appends a token, or what its aliases stand for; beyond the limits, the name of an alias.
void expand(const Token& token, const Aliases& aliases, int depth, int& steps, Tokens& out) {
  const auto alias = token.identifier() ? aliases.find(token.text) : aliases.end();
  if (alias == aliases.end() || depth > kMostAliases || steps > kMostSteps) {
    out.push_back(token);
    return;
  }
  for (const auto& inner : alias->second.tokens) {
    if (++steps > kMostSteps) return;
    expand(inner, aliases, depth + 1, steps, out);
  }
}

}  // namespace

std::size_t behind_group(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (auto i = open; i < tokens.size(); ++i) {
    const auto& text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == "[[") depth += 2;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (text == "]]") depth -= 2;
    if (depth <= 0) return i + 1;
  }
  return tokens.size();
}

Tokens expanded(const Tokens& tokens, const Aliases& aliases) {
  Tokens out;
  int steps = 0;
  for (const auto& token : tokens) expand(token, aliases, 0, steps, out);
  return out;
}

std::vector<Tokens> split_at_commas(const Tokens& tokens) {
  std::vector<Tokens> parts(1);
  int depth = 0;
  for (const auto& token : tokens) {
    if (token.is("(") || token.is("[") || token.is("{") || token.is("<")) ++depth;
    if (token.is(")") || token.is("]") || token.is("}") || token.is(">")) --depth;
    if (token.is(",") && depth == 0)
      parts.emplace_back();
    else
      parts.back().push_back(token);
  }
  if (parts.size() == 1 && (parts[0].empty() || (parts[0].size() == 1 && parts[0][0].is("void"))))
    parts.clear();
  return parts;
}

Result<ReadParameter> read_parameter(const Tokens& tokens, const Aliases& aliases) {
  const auto text = join(tokens);
  const auto plain = expanded(without_const_of_pointers(tokens, aliases), aliases);
  const auto declarator = take_apart(without_decoration(plain));
  if (!declarator)
    return unreadable_signature(fmt::format("parameter \"{}\" cannot be read", text));
  auto parameter = classify(*declarator, text);
  if (!parameter) return parameter.error();
  return ReadParameter{*std::move(parameter), spelled_type(plain, declarator->name)};
}

Error unreadable_signature(std::string message) {
  return invalid_argument(std::move(message), std::string(accepted_parameters()));
}

}  // namespace ratchet
