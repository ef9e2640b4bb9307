#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kbs/documents/document.h"

namespace ratchet::kbs {

/// `B200`, `Blackwell`, `sm_100a`, `SM100`, `compute_100` → `sm100`; `MI300X` → `gfx942`. Anything
/// else comes back in lower case without separators. Letters after the number (a, f) are dropped.
[[nodiscard]] std::string normal_architecture(std::string_view name);

/// Labels with their origin. Declared ones are believed, except on generated PR pages whose single
/// label is the generator's default (`sm100`) and whose text names no such device: those are
/// unverified. Architectures that the text of a PR names are added as derived.
[[nodiscard]] std::vector<ArchitectureLabel> label_architectures(
    const std::vector<std::string>& declared, Scope scope, std::string_view text);

/// Adds what further text of a PR names; an unverified label that it names becomes derived.
void derive_architectures(std::vector<ArchitectureLabel>& labels, std::string_view text);

/// The same for code, where short words such as `t4` are variables: names of four characters and
/// more.
void derive_architectures_of_code(std::vector<ArchitectureLabel>& labels, std::string_view code);

/// Ids are names, never paths: `[A-Za-z0-9._-]+` without `..`, at most 240 bytes.
[[nodiscard]] bool is_document_id(std::string_view id);

/// Labels as the index stores them: "sm90:declared,sm100:unverified".
[[nodiscard]] std::string label_list(const std::vector<ArchitectureLabel>& labels);

/// How values of filters are stored and compared: lower case, blanks and underscores as hyphens.
[[nodiscard]] std::string facet_value(std::string_view value);

/// Lower case letters and digits only: how product names are compared.
[[nodiscard]] std::string squeezed(std::string_view text);

}  // namespace ratchet::kbs
