#pragma once

namespace ratchet::test {

/// Whether the tests and what they start are built with a sanitizer. Sanitized programs map
/// terabytes of shadow memory, take more time, and make system calls of their own.
#if defined(RATCHET_SANITIZED)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace ratchet::test
