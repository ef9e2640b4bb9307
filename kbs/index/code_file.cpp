#include "kbs/index/code_file.h"

#include <fmt/format.h>

#include <charconv>

#include "server/sqlite/compression.h"

namespace ratchet::kbs {
namespace {

constexpr std::string_view kDiff = "diff-";
constexpr std::string_view kSnapshot = "snap-";

/// A positive number, or 0 when the text is not one.
int positive(std::string_view digits) {
  int value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = code == std::errc{} && end == digits.data() + digits.size();
  return whole && value > 0 ? value : 0;
}

}  // namespace

Result<StoredCode> read_code(Statement& statement, std::int64_t file) {
  statement.reset();
  auto row = statement.bind(1, file).step();
  if (!row) return row.error();
  if (!*row) return not_found("no such file in the knowledge index");
  StoredCode code;
  code.scope = static_cast<Scope>(statement.integer(10));
  code.id = code_id(code.scope, statement.text(0), statement.integer(1));
  int column = 2;
  for (auto* field : {&code.corpus, &code.page, &code.repo, &code.title, &code.url, &code.date,
                      &code.license, &code.architectures})
    *field = statement.text(column++);
  code.path = statement.text(11);
  code.line = static_cast<int>(statement.integer(12));
  code.source_path = statement.text(13);
  code.language = statement.text(14);
  code.digest = statement.text(15);
  auto text = decompress(statement.blob(16));
  if (!text) return text.error();
  code.text = *std::move(text);
  code.parts = parts_of(code.scope, code.text, code.source_path);
  return code;
}

std::vector<CodePart> parts_of(Scope scope, std::string_view text, std::string_view source_path) {
  return scope == Scope::diffs ? split_hunks(text) : split_definitions(text, source_path);
}

std::string code_id(Scope scope, std::string_view bundle, std::int64_t file) {
  return fmt::format("{}{}-{}", scope == Scope::diffs ? kDiff : kSnapshot, bundle, file);
}

std::optional<CodeId> parse_code_id(std::string_view id) {
  CodeId code;
  code.scope = id.starts_with(kDiff) ? Scope::diffs : Scope::snapshots;
  if (!id.starts_with(kDiff) && !id.starts_with(kSnapshot)) return std::nullopt;
  id.remove_prefix(kDiff.size());
  const auto dash = id.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  code.bundle = id.substr(0, dash);
  auto numbers = id.substr(dash + 1);
  if (const auto dot = numbers.find('.'); dot != std::string_view::npos) {
    code.part = positive(numbers.substr(dot + 1));
    if (code.part == 0) return std::nullopt;
    numbers = numbers.substr(0, dot);
  }
  code.file = positive(numbers);
  return code.file > 0 ? std::optional(std::move(code)) : std::nullopt;
}

}  // namespace ratchet::kbs
