#pragma once

#include <optional>
#include <string_view>

#include "server/core/result.h"
#include "server/mcp/http/head.h"
#include "server/mcp/http/options.h"

namespace ratchet::mcp {

/// Whether an address or host name is reachable from this machine only.
[[nodiscard]] bool is_loopback(std::string_view host);

/// Whether a version of the HTTP library ("0.41.0") is 0.`minor` or newer.
[[nodiscard]] bool is_library_from(std::string_view version, int minor);

/// Why the address may not be served: its token is weak; it has none, and that was not asked for or
/// other machines can reach it; or they can, the HTTP library's parser has known vulnerabilities,
/// and `force_old_library` is not set. Pure.
[[nodiscard]] std::optional<Error> exposure_error(const HttpOptions& options,
                                                  std::string_view library_version);

/// Which requests are allowed in: known Host, known Origin, and the token if one is set. Pure.
/// Borrows the options.
class AccessPolicy {
 public:
  explicit AccessPolicy(const HttpOptions& options);

  /// Prevents DNS rebinding: a page of another site can reach the server only under its own host
  /// name.
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
