#pragma once

#include <stop_token>

#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/dispatch/pool.h"

namespace ratchet::mcp {

/// Serves one client over two descriptors, which stay the caller's; see `Server::serve_stdio`.
///
/// Calls that only read run on the thread that reads the input, which saves two thread switches a
/// call; when one lasts longer than a millisecond, another thread takes over the reading. All other
/// calls go to the pool at once.
void serve_stdio(Dispatcher& dispatcher, Pool& pool, int input, int output,
                 const std::stop_token& stop);

}  // namespace ratchet::mcp
