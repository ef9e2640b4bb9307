#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/job.h"
#include "kernels/worker/device.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// The C function behind a kernel's entry, found in a shared library that stays loaded for the rest
/// of the process.
///
/// `library` is the library's descriptor; it is closed. Static constructors of the library run
/// here. Errors: `invalid_argument` with the loader's text: a finding (`load_error`) to the caller.
[[nodiscard]] Result<void*> load_entry(int library, const std::string& name,
                                       const std::string& entry);

/// Binds the entry to one arena: each call passes the same arguments in registers and on the stack
/// as the platform's C ABI asks. Pointers are `base` + offset; a stream parameter gets `stream`.
[[nodiscard]] Invocation bind(void* entry, const std::vector<job::Argument>& arguments,
                              std::byte* base, void* stream);

}  // namespace ratchet::worker
