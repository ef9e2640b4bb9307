#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/setup/config_edit.h"

// JSON for `config_edit.h`, which says what these do.

namespace ratchet::setup::json_config {

/// Whether `//` and `/* */` and a comma after the last member may stand in the file.
enum class Comments { refused, kept };

[[nodiscard]] Result<std::optional<std::string>> entry_in(Comments comments, std::string_view text,
                                                          std::string_view container,
                                                          const std::string& name);
[[nodiscard]] Result<Insertion> insertion_into(Comments comments, std::string_view text,
                                               std::string_view container, const std::string& name,
                                               const Json& entry);
[[nodiscard]] Result<std::string> removed_from(Comments comments, std::string_view text,
                                               std::string_view container, const std::string& name,
                                               bool container_too);
[[nodiscard]] bool holds_nothing(Comments comments, std::string_view text,
                                 std::string_view container);

}  // namespace ratchet::setup::json_config
