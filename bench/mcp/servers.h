#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"

// The servers that are compared. Ours and the floors live in the benchmark's own program, which
// starts itself again for each of them; the rival on the TypeScript SDK is a script for Node.

namespace ratchet::bench {

/// What every server's tool says; an answer without it is an error.
inline constexpr const char* kSaid = "This is a simple text response for testing.";

/// How to start one server and how to speak to it.
struct Contender {
  std::string name;
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  int port = 0;            ///< HTTP; 0 means stdio
  bool stateless = false;  ///< speak 2026-07-28, else 2025-11-25
  int calls = 40'000;      ///< of one round
};

/// Serves as `mode` says ("ours", "floor") on stdio, or with a port over HTTP. Gives the exit
/// status; empty when `mode` is neither.
[[nodiscard]] std::optional<int> serve_as(const std::string& mode, int port);

/// All that can run here. The TypeScript SDK is left out where npm did not install it into `npm`.
[[nodiscard]] std::vector<Contender> contenders(const std::string& npm, const std::string& rivals);

}  // namespace ratchet::bench
