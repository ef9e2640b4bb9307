#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace ratchet::mcp {

/// The counters behind `GET /metrics`, without locks. Thread-safe, except `add_tool`.
class Metrics {
 public:
  struct Tool {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> errors{0};
    std::atomic<std::uint64_t> microseconds{0};
  };

  /// Adds the counters of one tool. Only before serving starts.
  Tool& add_tool(const std::string& name);

  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> malformed{0};
  std::atomic<std::uint64_t> refused{0};  ///< HTTP requests rejected before they were read as MCP
  std::atomic<std::int64_t> calls_in_flight{0};
  std::atomic<std::int64_t> open_streams{0};

  /// Prometheus text format, version 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string, std::unique_ptr<Tool>> tools_;
};

}  // namespace ratchet::mcp
