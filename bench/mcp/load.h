#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/mcp/servers.h"

namespace ratchet::bench {

/// The cost of one series of calls.
struct Cost {
  double calls_per_second = 0;
  double cpu_us = 0;  ///< processor time of the server per call
  double p50_us = 0;  ///< from sending to the complete answer
  double p99_us = 0;
};

/// A started server and the connections to it: a pipe, or one HTTP connection per call in flight.
///
/// One thread drives all calls; it shares the machine with the server. Ends the program with a
/// message on stderr if the server dies, does not answer for 30 s, or gives a wrong answer.
class Load {
 public:
  /// Starts the server and, if its protocol revision has one, performs the handshake.
  Load(const Contender& contender, int in_flight);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  Cost run(int calls);
  /// Anonymous memory of the server, in KiB.
  [[nodiscard]] std::size_t server_kib() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Milliseconds from starting the process to its answer to the first request; stdio only.
[[nodiscard]] double start_ms(const std::vector<std::string>& argv,
                              const std::vector<std::string>& environment);

}  // namespace ratchet::bench
