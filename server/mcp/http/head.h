#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace ratchet::mcp {

/// Why an HTTP request is rejected before it is read as MCP.
struct HttpProblem {
  int status = 400;
  std::string text;
};

/// The part of a head that is passed to the HTTP library.
struct CleanHead {
  std::string text;
  bool chunked = false;
  std::size_t body_bytes = 0;  ///< Content-Length
};

/// Limits enforced with every version of the HTTP library.
struct HeadLimits {
  std::size_t head_bytes = std::size_t{64} << 10U;
  std::size_t line_bytes = std::size_t{8} << 10U;
  std::size_t headers = 100;
  std::size_t body_bytes = std::size_t{16} << 20U;
  bool chunked = true;  ///< false: no chunked bodies, since old libraries misread chunk sizes
};

/// Checks the head of a request, from the request line to the empty line, and returns the part that
/// is passed to the HTTP library: it needs few headers, and cannot misread what it does not see
/// (ranges, compression, upgrades). Pure.
///
/// Rejects bare CR or LF, folded lines, unknown syntax, missing or repeated Host, repeated
/// Content-Length or Content-Length with Transfer-Encoding, codings other than `chunked`,
/// compressed bodies, more or longer headers than the limits, bodies beyond the limit or of methods
/// other than POST.
[[nodiscard]] std::variant<CleanHead, HttpProblem> clean_head(std::string_view head,
                                                              const HeadLimits& limits);

/// Compares ASCII case-insensitively.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

}  // namespace ratchet::mcp
