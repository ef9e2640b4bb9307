#pragma once

#include <stop_token>

#include "server/mcp/dispatcher.h"
#include "server/mcp/http_options.h"
#include "server/mcp/pool.h"

namespace ratchet::mcp {

/// Serves HTTP until `stop`; see `Server::serve_http`.
[[nodiscard]] Result<int> serve_http(Dispatcher& dispatcher, Pool& pool, const HttpOptions& options,
                                     const std::stop_token& stop);

}  // namespace ratchet::mcp
