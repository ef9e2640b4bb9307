#pragma once

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "tests/support/places.h"

namespace ratchet::test {

/// The interpreter with torch and Triton that `./dev test --all` sets up; skips the test without.
[[nodiscard]] inline std::string python_with_frameworks() {
  const auto environment = build_dir() / "python";
  if (!std::filesystem::exists(environment / ".ready"))
    SKIP("torch and Triton are not set up: ./dev test --all does it where they are to be had");
  return (environment / "bin" / "python").string();
}

}  // namespace ratchet::test
