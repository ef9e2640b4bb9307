#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/mcp/servers.h"

namespace ratchet::bench {

/// What one series of calls cost.
struct Cost {
  double calls_per_second = 0;
  double cpu_us = 0;  ///< processor time of the server per call
  double p50_us = 0;  ///< from sending to the whole answer
  double p99_us = 0;
};

/// A started server and the connections to it: a pipe, or one HTTP connection per call in flight.
///
/// One thread drives all calls; it shares the machine with the server. Ends the program with a word
/// on stderr when the server dies, does not answer for 30 s, or says something else than it should.
class Load {
 public:
  /// Starts the server and shakes hands where its era does.
  Load(const Contender& contender, int in_flight);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  Cost run(int calls);
  /// Memory of the server that is its own, in KiB.
  [[nodiscard]] std::size_t server_kib() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// From starting the process to its answer to the first request, in milliseconds; stdio only.
[[nodiscard]] double start_ms(const std::vector<std::string>& argv,
                              const std::vector<std::string>& environment);

}  // namespace ratchet::bench
