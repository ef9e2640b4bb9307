#pragma once

#include <string>
#include <string_view>

#include "server/facts/contract.h"

namespace ratchet {

/// The source without comments and white space (string literals kept whole): what has to differ
/// between a version and its parent. Pure. `python` chooses `#` comments over `//` and `/* */`.
[[nodiscard]] std::string stripped_source(std::string_view text, bool python);

/// Name of a version's kernel file: kernel.cpp, kernel.cu or kernel.py, by implementation.
[[nodiscard]] std::string kernel_file_name(Implementation implementation);

/// Name of the reference in the output directory: ref.cpp, ref.cu or ref.py.
[[nodiscard]] std::string reference_file_name(ReferenceKind kind);

/// Whether a source submitted under this name can be a kernel of the implementation. A name without
/// a suffix (source given as text) always can.
[[nodiscard]] bool has_fitting_suffix(std::string_view file_name, Implementation implementation);

}  // namespace ratchet
