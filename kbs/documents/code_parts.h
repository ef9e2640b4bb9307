#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::kbs {

/// The section of a unified diff that concerns one file.
struct DiffSection {
  std::string_view text;  ///< view into the diff
  std::string path;       ///< after the change; for a deleted file, before it
  int line = 1;           ///< line number of the section within the diff, counted from 1
};

/// A range of a text that is indexed as a unit: a hunk, a definition or a chapter.
struct CodePart {
  std::size_t begin = 0;  ///< bytes
  std::size_t end = 0;
  int line = 1;      ///< number of its first line within the text, counted from 1
  std::string name;  ///< what it defines or changes; may be empty
};

/// Splits a diff into its sections, in order, dropping any text before the first one (such as a
/// mail header). A text without a `diff --git` line is a single section. Pure.
[[nodiscard]] std::vector<DiffSection> split_diff(std::string_view diff);

/// Splits a section of a diff at its hunks, and long hunks at the definitions in them. The parts
/// cover the text without gaps. Pure.
[[nodiscard]] std::vector<CodePart> split_hunks(std::string_view section);

/// Splits a source file before its definitions. Comments and decorators stay with the definition
/// that follows; small neighbors are merged and long parts are split at blank lines. The parts
/// cover the text without gaps. Goes by layout only, without a parser, so that incomplete or
/// unknown code is split as well. Pure.
[[nodiscard]] std::vector<CodePart> split_definitions(std::string_view text, std::string_view path);

/// The language of a file, from its name and text: cuda-cpp, cpp, triton, cute-dsl, tilelang,
/// jax-pallas, python or markdown; for any other file its extension (such as ptx).
[[nodiscard]] std::string language_of(std::string_view path, std::string_view text);

}  // namespace ratchet::kbs
