#include "kernels/source/entry_scanner.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace ratchet {
namespace {

struct Scope {
  bool extern_c = false;
  bool in_namespace = false;
  bool unnamed = false;  ///< extern "C" has no effect inside an unnamed namespace
};

bool opens_linkage(const Tokens& statement) {
  return statement.size() == 2 && statement[0].is("extern") && statement[1].is("\"C\"");
}

bool opens_namespace(const Tokens& statement) {
  return !statement.empty() &&
         (statement[0].is("namespace") ||
          (statement.size() > 1 && statement[0].is("inline") && statement[1].is("namespace")));
}

Tokens part(const Tokens& tokens, std::size_t begin, std::size_t end) {
  end = std::min(end, tokens.size());
  begin = std::min(begin, end);
  return {tokens.begin() + static_cast<std::ptrdiff_t>(begin),
          tokens.begin() + static_cast<std::ptrdiff_t>(end)};
}

bool has(const Tokens& tokens, std::string_view word) {
  return std::ranges::any_of(tokens, [&](const Token& token) { return token.is(word); });
}

/// Removes [[…]], __attribute__((…)) and the like, which may precede a name anywhere.
Tokens without_attributes(const Tokens& tokens) {
  Tokens out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("[[")) {
      i = behind_group(tokens, i) - 1;
    } else if (i + 1 < tokens.size() && tokens[i + 1].is("(") && tokens[i].identifier()) {
      i = behind_group(tokens, i + 1) - 1;
    } else {
      out.push_back(tokens[i]);
    }
  }
  return out;
}

/// `before` precedes the function's name, `behind` follows its parameter list.
bool returns_void(const Tokens& before, const Tokens& behind) {
  const auto head = without_attributes(before);
  for (std::size_t i = 0; i + 1 < behind.size(); ++i)
    if (behind[i].is("->")) return has(head, "auto") && behind[i + 1].is("void");
  const auto found = std::ranges::find_if(head, [](const Token& t) { return t.is("void"); });
  // The rest can only be macros of headers, which are not read.
  return found != head.end() &&
         std::all_of(found + 1, head.end(), [](const Token& t) { return t.identifier(); });
}

std::string exception_of(const Tokens& behind) {
  for (std::size_t i = 0; i < behind.size(); ++i) {
    if (!behind[i].is("noexcept") && !behind[i].is("throw")) continue;
    const bool group = i + 1 < behind.size() && behind[i + 1].is("(");
    return join(part(behind, i, group ? behind_group(behind, i + 1) : i + 1));
  }
  return {};
}

/// Reads the declarations at namespace scope; bodies are skipped.
class Scanner {
 public:
  Scanner(const TokenizedSource& source, std::string_view entry, bool device_entry)
      : tokens_(source.tokens), entry_(entry), device_entry_(device_entry) {
    for (const auto& [name, tokens] : source.macros) found_.aliases[name] = {tokens, false};
    found_.aliases.erase(entry_);
    // Macros that redefine keywords (`#define const`) are not types.
    for (const auto* word : {"const", "void", "extern", "static"}) found_.aliases.erase(word);
  }

  Declarations run() {
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
        const auto group = part(tokens_, i, end);
        statement.insert(statement.end(), group.begin(), group.end());
        i = end;
      } else {
        statement.push_back(token);
        ++i;
      }
    }
    return std::move(found_);
  }

 private:
  std::size_t open_brace(const Tokens& statement, std::size_t at) {
    const auto words = expanded(statement, found_.aliases);
    auto scope = scopes_.empty() ? Scope{} : scopes_.back();
    if (opens_linkage(words)) {
      scope.extern_c = true;
    } else if (opens_namespace(words)) {
      scope.in_namespace = true;
      scope.unnamed = scope.unnamed || words.back().is("namespace");
    } else {
      finish(statement, true);
      const auto end = behind_group(tokens_, at);
      if (end == tokens_.size()) {
        const auto body = part(tokens_, at, end);
        const auto count = [&](std::string_view brace) {
          return std::ranges::count(body, brace, &Token::text);
        };
        found_.unbalanced = found_.unbalanced || count("{") > count("}");
      }
      return end;
    }
    scopes_.push_back(scope);
    return at + 1;
  }

  void finish(const Tokens& statement, bool definition) {
    if (statement.size() < 3) return;
    if (statement[0].is("using") && statement[2].is("=")) {
      found_.aliases[statement[1].text] = {part(statement, 3, statement.size()), true};
      return;
    }
    if (statement[0].is("typedef")) {
      if (statement.back().identifier())
        found_.aliases[statement.back().text] = {part(statement, 1, statement.size() - 1), true};
      return;
    }
    if (const auto at = entry_position(statement))
      note(statement, *at, definition);
    else if (definition)
      note_other(statement);
  }

  /// The function being defined, if it could be the entry.
  void note_other(const Tokens& statement) {
    const auto words = expanded(statement, found_.aliases);
    if (words[0].is("template")) return;
    const bool kernel = has(words, "__global__");
    const bool linked = (!scopes_.empty() && scopes_.back().extern_c) || has(words, "\"C\"");
    if (!kernel && !(linked && has(words, "void"))) return;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      if (!words[i + 1].is("(")) continue;
      const auto close = behind_group(words, i + 1);
      if (words[i].identifier() && close == words.size())
        (kernel ? found_.kernels : found_.others).push_back(words[i].text);
      i = close - 1;
    }
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
    found.parameters = part(statement, at + 2, close - 1);
    const auto before = expanded(part(statement, 0, at), found_.aliases);
    const auto behind = expanded(part(statement, close, statement.size()), found_.aliases);
    found.extern_c = scope.extern_c || (has(before, "extern") && has(before, "\"C\""));
    found.exception = exception_of(behind);
    const auto head = join(before);
    const bool kernel = has(before, "__global__");
    if (device_entry_ && !kernel)
      found.problem = "it is not a __global__ function, which `launch` requires";
    else if (!device_entry_ && (kernel || has(before, "__device__")))
      found.problem =
          fmt::format("it is device code (\"{}\"), but the entry must be a host function", head);
    else if (has(before, "static"))
      found.problem = "it is static, so no other file can call it: remove static";
    else if (has(before, "inline"))
      found.problem = "it is inline, so the compiler may not emit it: remove inline";
    else if (!returns_void(before, behind))
      found.problem = fmt::format("it must return void; seen \"{}\"", head);
    else if (scope.unnamed)
      found.problem = "it is in an unnamed namespace, so no other file can call it";
    else if (scope.in_namespace && (device_entry_ || !found.extern_c))
      found.problem = "it is in a namespace without extern \"C\"";
    found_.occurrences.push_back(std::move(found));
  }

  const Tokens& tokens_;
  std::string entry_;
  bool device_entry_;
  std::vector<Scope> scopes_;
  Declarations found_;
};

}  // namespace

Declarations declarations_of(const TokenizedSource& source, std::string_view entry,
                             bool device_entry) {
  return Scanner(source, entry, device_entry).run();
}

}  // namespace ratchet
