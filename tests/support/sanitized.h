#pragma once

namespace ratchet::test {

/// Whether the tests and what they start are built with a sanitizer. Sanitized programs map
/// terabytes of shadow memory, take more time, and make system calls of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace ratchet::test
