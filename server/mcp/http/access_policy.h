#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/core/result.h"
#include "server/mcp/http/head.h"
#include "server/mcp/http/options.h"

namespace ratchet::mcp {

/// Whether an address or host name means this machine alone.
[[nodiscard]] bool is_loopback(std::string_view host);

/// Whether a version of the HTTP library ("0.41.0") is 0.`minor` or newer.
[[nodiscard]] bool is_library_from(std::string_view version, int minor);

/// Why the address may not be served: others can reach it, and there is no token, or the library's
/// parser has known holes and nobody took the risk on. Pure.
[[nodiscard]] std::optional<Error> exposure_error(const HttpOptions& options,
                                                  std::string_view library_version);

/// Who may come in: the right Host, no foreign Origin, the token where one is set. Pure.
class AccessPolicy {
 public:
  explicit AccessPolicy(const HttpOptions& options);

  /// Guards against DNS rebinding: a page of another site reaches us only under a name of its own.
  [[nodiscard]] std::optional<HttpProblem> host_problem(
      std::string_view host, std::optional<std::string_view> origin) const;
  [[nodiscard]] std::optional<HttpProblem> token_problem(std::string_view authorization) const;

 private:
  [[nodiscard]] bool knows_host(std::string_view host) const;
  [[nodiscard]] bool knows_origin(std::string_view origin) const;

  const HttpOptions& options_;
  const bool beyond_loopback_;
};

}  // namespace ratchet::mcp
