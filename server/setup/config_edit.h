#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/core/fields.h"
#include "server/core/result.h"

// Edits of other programs' configuration files that leave every other byte as it is. Pure functions
// on text; any thread. Errors: `invalid_argument` with line and column, both from 1, for text that
// breaks the rules of its format or has no place for an entry.

namespace ratchet::setup {

/// How a client writes down its servers.
struct Format {
  enum class Syntax { json, json_with_comments, toml };
  Syntax syntax = Syntax::json;
  std::string_view container;  ///< the key at the top that holds the servers, by name
};

/// One piece of text put in at one place. Taking it out again restores the file.
struct Insertion {
  std::size_t at = 0;
  std::string text;

  [[nodiscard]] std::string applied_to(std::string_view whole) const {
    return std::string(whole.substr(0, at)) + text + std::string(whole.substr(at));
  }
};

/// The source text of the entry `name`; empty when there is none.
[[nodiscard]] Result<std::optional<std::string>> entry_in(const Format& format,
                                                          std::string_view text,
                                                          const std::string& name);

/// Adds an entry that is not there yet; an empty text becomes a whole file.
[[nodiscard]] Result<Insertion> insertion_into(const Format& format, std::string_view text,
                                               const std::string& name, const Json& entry);

/// The text without the entry, and without a container left empty when `container_too`.
[[nodiscard]] Result<std::string> removed_from(const Format& format, std::string_view text,
                                               const std::string& name, bool container_too);

/// Whether nothing but empty containers and blanks is left.
[[nodiscard]] bool holds_nothing(const Format& format, std::string_view text);

}  // namespace ratchet::setup
