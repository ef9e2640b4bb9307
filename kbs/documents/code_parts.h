#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::kbs {

/// The section of a unified diff that concerns one file.
struct DiffSection {
  std::string_view text;  ///< view into the diff
  std::string path;       ///< after the change; before it for a deleted file
  int line = 1;           ///< of its first line in the diff, counted from 1
};

/// A stretch of a text that is found by itself: a hunk, a definition, a chapter.
struct CodePart {
  std::size_t begin = 0;  ///< bytes
  std::size_t end = 0;
  int line = 1;      ///< of its first line in the text, counted from 1
  std::string name;  ///< of what it defines or changes; may be empty
};

/// Sections in order; what stands before the first one (a mail header) is left out. A text without
/// any `diff --git` line is one section. Pure.
[[nodiscard]] std::vector<DiffSection> split_diff(std::string_view diff);

/// Cuts a section of a diff at its hunks; long hunks are cut again at their definitions. The parts
/// cover the text without gaps. Pure.
[[nodiscard]] std::vector<CodePart> split_hunks(std::string_view section);

/// Cuts a source file before its definitions, comments and decorators going with what they stand
/// before; small neighbours stay together, long ones are cut at blank lines. The parts cover the
/// text without gaps. By layout only: no parser, so broken or unknown code is cut as well. Pure.
[[nodiscard]] std::vector<CodePart> split_definitions(std::string_view text, std::string_view path);

/// The kernel language of a file by its name and text: cuda-cpp, cpp, triton, cute-dsl, tilelang,
/// jax-pallas, python, ptx, markdown; another extension as it is.
[[nodiscard]] std::string language_of(std::string_view path, std::string_view text);

}  // namespace ratchet::kbs
