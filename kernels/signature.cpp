#include "kernels/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "kernels/cpp_tokens.h"
#include "kernels/parameter_reader.h"

namespace ratchet {
namespace {

/// One place where the entry is declared at namespace scope.
struct Occurrence {
  Tokens parameters;
  bool extern_c = false;
  bool definition = false;
  std::string problem;  ///< why it cannot be the entry; empty when it can
};

struct Scope {
  bool extern_c = false;
  bool in_namespace = false;
};

bool opens_linkage(const Tokens& statement) {
  return statement.size() == 2 && statement[0].is("extern") && statement[1].is("\"C\"");
}

bool opens_namespace(const Tokens& statement) {
  return !statement.empty() &&
         (statement[0].is("namespace") ||
          (statement.size() > 1 && statement[0].is("inline") && statement[1].is("namespace")));
}

/// Reads the declarations at namespace scope; bodies are skipped whole.
class Scanner {
 public:
  Scanner(const TokenizedSource& source, std::string_view entry)
      : tokens_(source.tokens), aliases_(source.macros), entry_(entry) {
    aliases_.erase(entry_);
    // Macros that would swallow the language itself (`#define const`) are not types.
    for (const auto* word : {"const", "void", "extern", "static"}) aliases_.erase(word);
  }

  void run() {
    Tokens statement;
    for (std::size_t i = 0; i < tokens_.size();) {
      const auto& token = tokens_[i];
      if (token.is(";")) {
        finish(statement, false);
        statement.clear();
        ++i;
      } else if (token.is("{")) {
        i = open_brace(statement, i);
        statement.clear();
      } else if (token.is("}")) {
        if (!scopes_.empty()) scopes_.pop_back();
        statement.clear();
        ++i;
      } else if (token.is("(") || token.is("[") || token.is("[[")) {
        const auto end = behind_group(tokens_, i);
        statement.insert(statement.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(i),
                         tokens_.begin() + static_cast<std::ptrdiff_t>(end));
        i = end;
      } else {
        statement.push_back(token);
        ++i;
      }
    }
  }

  [[nodiscard]] const std::vector<Occurrence>& occurrences() const { return occurrences_; }
  [[nodiscard]] const Aliases& aliases() const { return aliases_; }

 private:
  std::size_t open_brace(const Tokens& statement, std::size_t at) {
    const auto words = expanded(statement, aliases_);
    auto scope = scopes_.empty() ? Scope{} : scopes_.back();
    if (opens_linkage(words)) {
      scope.extern_c = true;
    } else if (opens_namespace(words)) {
      scope.in_namespace = true;
    } else {
      finish(statement, true);
      return behind_group(tokens_, at);
    }
    scopes_.push_back(scope);
    return at + 1;
  }

  void finish(const Tokens& statement, bool definition) {
    if (statement.size() < 3) return;
    if (statement[0].is("using") && statement[2].is("=")) {
      aliases_[statement[1].text] = Tokens(statement.begin() + 3, statement.end());
      return;
    }
    if (statement[0].is("typedef")) {
      if (statement.back().identifier())
        aliases_[statement.back().text] = Tokens(statement.begin() + 1, statement.end() - 1);
      return;
    }
    if (const auto at = entry_position(statement)) note(statement, *at, definition);
  }

  [[nodiscard]] std::optional<std::size_t> entry_position(const Tokens& statement) const {
    for (std::size_t i = 0; i + 1 < statement.size(); ++i) {
      if (statement[i].is("=") || statement[i].is("template")) return std::nullopt;
      if (statement[i].is("(") || statement[i].is("[") || statement[i].is("[[")) {
        i = behind_group(statement, i) - 1;
      } else if (statement[i].is(entry_) && statement[i + 1].is("(")) {
        const bool qualified = i > 0 && statement[i - 1].is("::");
        return qualified ? std::nullopt : std::optional(i);
      }
    }
    return std::nullopt;
  }

  void note(const Tokens& statement, std::size_t at, bool definition) {
    Occurrence found;
    const auto scope = scopes_.empty() ? Scope{} : scopes_.back();
    found.definition = definition;
    const auto close = behind_group(statement, at + 1);
    found.parameters = Tokens(statement.begin() + static_cast<std::ptrdiff_t>(at + 2),
                              statement.begin() + static_cast<std::ptrdiff_t>(close) - 1);
    const Tokens written(statement.begin(), statement.begin() + static_cast<std::ptrdiff_t>(at));
    const auto before = expanded(written, aliases_);
    const auto has = [&](std::string_view word) {
      return std::ranges::any_of(before, [&](const Token& token) { return token.is(word); });
    };
    found.extern_c = scope.extern_c || (has("extern") && has("\"C\""));
    const auto head = join(before);
    if (has("__global__") || has("__device__"))
      found.problem = fmt::format("it is device code (\"{}\"), the entry is a host function", head);
    else if (has("static"))
      found.problem = "it is static, so no other file can call it";
    else if (before.empty() || !before.back().is("void"))
      found.problem = fmt::format("it must return void; seen \"{}\"", head);
    else if (scope.in_namespace && !found.extern_c)
      found.problem = "it stands in a namespace without extern \"C\"";
    occurrences_.push_back(std::move(found));
  }

  const Tokens& tokens_;
  Aliases aliases_;
  std::string entry_;
  std::vector<Scope> scopes_;
  std::vector<Occurrence> occurrences_;
};

Result<Signature> read(const Occurrence& occurrence, const std::string& entry,
                       const Aliases& aliases) {
  Signature signature;
  signature.entry = entry;
  signature.extern_c = occurrence.extern_c;
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

Error not_found(const std::vector<Occurrence>& occurrences, const std::string& entry) {
  const auto form =
      fmt::format("Define: extern \"C\" void {}(const float* x, float* y, int n). ", entry);
  const auto why = occurrences.empty() ? "is not defined in this source"
                                       : "cannot be used: " + occurrences.front().problem;
  return Error{ErrorCode::invalid_argument, fmt::format("entry {} {}", entry, why),
               form + "Another name can be given as `entry`."};
}

/// One signature of all usable occurrences: the definition's names, extern "C" from any of them.
Result<Signature> merged(const std::vector<Signature>& all, const std::vector<bool>& definitions) {
  auto chosen =
      static_cast<std::size_t>(std::ranges::find(definitions, true) - definitions.begin());
  const bool defined = chosen < all.size();
  if (!defined) chosen = 0;
  Signature signature = all[chosen];
  for (const auto& other : all) {
    if (!same_types(signature, other))
      return unreadable_signature(
          fmt::format("entry {} is declared with different parameter lists", signature.entry));
    signature.extern_c = signature.extern_c || other.extern_c;
  }
  if (!signature.extern_c)
    signature.notes.push_back("extern \"C\" is missing; a generated solve.h declares it");
  if (!defined)
    signature.notes.push_back("only a declaration is here; the definition lies elsewhere");
  return signature;
}

}  // namespace

std::string_view accepted_parameters() {
  return "Accepted: [const] T* name with T = float, double, half, nv_bfloat16, __nv_fp8_e4m3, "
         "__nv_fp8_e5m2, bool, char, short, int, long, long long (signed or unsigned), int8_t … "
         "uint64_t, size_t; values: the integer types, bool, float, double, cudaStream_t.";
}

Result<Signature> parse_signature(std::string_view source, std::string_view entry) {
  const auto tokenized = tokenize(source);
  const std::string name(entry);
  Scanner scanner(tokenized, entry);
  scanner.run();
  std::vector<Signature> usable;
  std::vector<bool> definitions;
  for (const auto& occurrence : scanner.occurrences()) {
    if (!occurrence.problem.empty()) continue;
    auto signature = read(occurrence, name, scanner.aliases());
    if (!signature) return signature.error();
    usable.push_back(*std::move(signature));
    definitions.push_back(occurrence.definition);
  }
  if (usable.empty()) return not_found(scanner.occurrences(), name);
  auto signature = merged(usable, definitions);
  if (!signature) return signature;
  if (const auto named = check_names(*signature); !named) return named.error();
  return signature;
}

std::string declaration_header(const Signature& signature) {
  std::string list;
  std::set<std::string> headers{"cstddef", "cstdint"};
  for (const auto& type : signature.types) {
    list += (list.empty() ? "" : ", ") + type;
    const auto mentions = [&](std::string_view word) {
      return type.find(word) != std::string::npos;
    };
    if (mentions("cutlass"))
      headers.insert("cutlass/numeric_types.h");
    else if (mentions("half"))
      headers.insert("cuda_fp16.h");
    if (mentions("nv_bfloat16")) headers.insert("cuda_bf16.h");
    if (mentions("nv_fp8")) headers.insert("cuda_fp8.h");
    if (mentions("cudaStream_t")) headers.insert("cuda_runtime.h");
    if (mentions("CUstream")) headers.insert("cuda.h");
  }
  std::string text = "#pragma once\n";
  for (const auto& header : headers) text += fmt::format("#include <{}>\n", header);
  return text + fmt::format("extern \"C\" void {}({});\n", signature.entry, list);
}

}  // namespace ratchet
