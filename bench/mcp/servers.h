#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"

// The servers to compare. Ratchet's server and the minimal ones are part of the benchmark program,
// which starts itself again for each of them; the rival on the TypeScript SDK is a Node script.

namespace ratchet::bench {

/// The text that every server's tool returns; an answer without it is an error.
inline constexpr const char* kSaid = "This is a simple text response for testing.";

/// How to start one server and how to talk to it.
struct Contender {
  std::string name;
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  int port = 0;            ///< HTTP; 0 means stdio
  bool stateless = false;  ///< protocol 2026-07-28, else 2025-11-25
  int calls = 40'000;      ///< per round
};

/// Runs the server that `mode` names ("ours", "floor") on stdio, or over HTTP if a port is given.
/// Returns the exit status; empty for any other mode.
[[nodiscard]] std::optional<int> serve_as(const std::string& mode, int port);

/// All servers that can run here. Omits the TypeScript SDK if npm has not installed it into `npm`.
[[nodiscard]] std::vector<Contender> contenders(const std::string& npm, const std::string& rivals);

}  // namespace ratchet::bench
