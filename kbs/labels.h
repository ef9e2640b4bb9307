#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kbs/document.h"

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

/// Ids are names, never paths: `[A-Za-z0-9._-]+` without `..`.
[[nodiscard]] bool is_document_id(std::string_view id);

/// Lower case letters and digits only: how product names are compared.
[[nodiscard]] std::string squeezed(std::string_view text);

}  // namespace ratchet::kbs
