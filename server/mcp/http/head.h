#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace ratchet::mcp {

/// Why an HTTP request is turned away before it is read as MCP.
struct HttpProblem {
  int status = 400;
  std::string text;
};

/// What the HTTP library gets to see of a head.
struct CleanHead {
  std::string text;
  bool chunked = false;
  std::size_t body_bytes = 0;  ///< Content-Length
};

/// Limits that hold whatever version of the HTTP library is built.
struct HeadLimits {
  std::size_t head_bytes = std::size_t{64} << 10U;
  std::size_t line_bytes = std::size_t{8} << 10U;
  std::size_t headers = 100;
  std::size_t body_bytes = std::size_t{16} << 20U;
  bool chunked = true;  ///< false refuses every chunked body: old libraries misread chunk sizes
};

/// Checks the head of a request, from the request line to the empty line, and gives back the part
/// that the HTTP library shall see: it needs few headers, and what it does not see it cannot
/// misread (ranges, compression, upgrades). Pure.
///
/// Refused: bare CR or LF, folded lines, unknown syntax, repeated or missing Host, repeated
/// Content-Length or together with Transfer-Encoding, any coding but `chunked`, coded bodies, more
/// or longer headers than the limits, bodies beyond the limit or of anything but POST.
[[nodiscard]] std::variant<CleanHead, HttpProblem> clean_head(std::string_view head,
                                                              const HeadLimits& limits);

/// Case-insensitive comparison of ASCII.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

}  // namespace ratchet::mcp
