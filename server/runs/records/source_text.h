#pragma once

#include <string>
#include <string_view>

#include "server/facts/contract.h"

namespace ratchet {

/// The source without comments and white space; string literals are kept whole. A version must
/// differ from its parent in this text. `python` selects `#` comments instead of `//` and `/* */`.
/// Pure.
[[nodiscard]] std::string stripped_source(std::string_view text, bool python);

/// Whether two sources differ in nothing but comments, white space and the names of what they
/// declare themselves (variables, functions, macros, template parameters). Another name that comes
/// from outside, such as a type or an intrinsic, is another kernel. Pure.
[[nodiscard]] bool same_but_for_names(std::string_view a, std::string_view b, bool python);

/// File name of a version's kernel: kernel.cpp, kernel.cu or kernel.py, by implementation.
[[nodiscard]] std::string kernel_file_name(Implementation implementation);

/// File name of the reference in the output directory: ref.cpp, ref.cu or ref.py.
[[nodiscard]] std::string reference_file_name(ReferenceKind kind);

/// Whether the file name has a suffix of the implementation. A name without a suffix (source given
/// as text) always fits.
[[nodiscard]] bool has_fitting_suffix(std::string_view file_name, Implementation implementation);

}  // namespace ratchet
