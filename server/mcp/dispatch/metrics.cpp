#include "server/mcp/dispatch/metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace ratchet::mcp {
namespace {

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

template <class Number>
void single(std::string& out, std::string_view name, std::string_view type, std::string_view help,
            Number value) {
  head(out, name, type, help);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

}  // namespace

Metrics::Tool& Metrics::add_tool(const std::string& name) {
  auto& slot = tools_[name];
  if (!slot) slot = std::make_unique<Tool>();
  return *slot;
}

std::string Metrics::text() const {
  std::string out;
  single(out, "ratchet_messages_total", "counter", "JSON-RPC messages read.", messages.load());
  single(out, "ratchet_malformed_messages_total", "counter", "Messages that were not JSON-RPC.",
         malformed.load());
  single(out, "ratchet_refused_http_requests_total", "counter",
         "HTTP requests refused for their host, origin, token, headers or size.", refused.load());
  single(out, "ratchet_calls_in_flight", "gauge", "Requests being served.", calls_in_flight.load());
  single(out, "ratchet_open_streams", "gauge", "Open event streams.", open_streams.load());

  head(out, "ratchet_tool_calls_total", "counter", "Tool calls, by tool.");
  for (const auto& [name, tool] : tools_)
    fmt::format_to(std::back_inserter(out), "ratchet_tool_calls_total{{tool=\"{}\"}} {}\n", name,
                   tool->calls.load());
  head(out, "ratchet_tool_errors_total", "counter", "Tool calls answered with isError, by tool.");
  for (const auto& [name, tool] : tools_)
    fmt::format_to(std::back_inserter(out), "ratchet_tool_errors_total{{tool=\"{}\"}} {}\n", name,
                   tool->errors.load());
  head(out, "ratchet_tool_seconds_total", "counter", "Seconds spent in tool calls, by tool.");
  for (const auto& [name, tool] : tools_)
    fmt::format_to(std::back_inserter(out), "ratchet_tool_seconds_total{{tool=\"{}\"}} {:.6f}\n",
                   name, static_cast<double>(tool->microseconds.load()) * 1e-6);
  return out;
}

}  // namespace ratchet::mcp
