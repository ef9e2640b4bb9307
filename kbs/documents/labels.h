#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kbs/documents/document.h"

namespace ratchet::kbs {

/// Normalizes a device or architecture name: `B200`, `Blackwell`, `sm_100a`, `SM100`, `compute_100`
/// → `sm100`; `MI300X` → `gfx942`; a driver's name as `NVIDIA H200` → `sm90`. A suffix `a` or `f`
/// is dropped. Any other name is returned in lower case without separators.
[[nodiscard]] std::string normal_architecture(std::string_view name);

/// Labels with their origin. Declared labels are accepted, except on generated PR pages whose only
/// label is the generator's default (`sm100`) and whose text names no such device: that label is
/// unverified. Architectures named in the text of a PR are added as derived.
[[nodiscard]] std::vector<ArchitectureLabel> label_architectures(
    const std::vector<std::string>& declared, Scope scope, std::string_view text);

/// Adds the architectures named in more text of a PR as derived labels; an unverified label that
/// the text names becomes derived.
void derive_architectures(std::vector<ArchitectureLabel>& labels, std::string_view text);

/// The same for code, with names of at least four characters only: shorter ones, such as `t4`, are
/// usually variables.
void derive_architectures_of_code(std::vector<ArchitectureLabel>& labels, std::string_view code);

/// True for a valid id: `[A-Za-z0-9._-]+` without `..`, at most 240 bytes. An id is never a path.
[[nodiscard]] bool is_document_id(std::string_view id);

/// Labels as the index stores them: "sm90:declared,sm100:unverified".
[[nodiscard]] std::string label_list(const std::vector<ArchitectureLabel>& labels);

/// The form in which filter values are stored and compared: lower case, with hyphens for spaces and
/// underscores.
[[nodiscard]] std::string facet_value(std::string_view value);

/// Lower-case letters and digits only: the form in which names are compared.
[[nodiscard]] std::string squeezed(std::string_view text);

}  // namespace ratchet::kbs
