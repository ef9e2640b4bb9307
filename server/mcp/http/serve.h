#pragma once

#include <stop_token>

#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/dispatch/pool.h"
#include "server/mcp/http/options.h"

namespace ratchet::mcp {

/// Serves HTTP until `stop`; see `Server::serve_http`.
[[nodiscard]] Result<int> serve_http(Dispatcher& dispatcher, Pool& pool, const HttpOptions& options,
                                     const std::stop_token& stop);

}  // namespace ratchet::mcp
