#pragma once

#include <stop_token>

#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/dispatch/pool.h"

namespace ratchet::mcp {

/// Serves one client over two descriptors, which it does not own; see `Server::serve_stdio`.
///
/// Calls that only read run on the thread that reads the input, which saves two thread switches per
/// call; when one takes longer than a millisecond, another thread takes over reading. All other
/// calls run in the pool.
void serve_stdio(Dispatcher& dispatcher, Pool& pool, int input, int output,
                 const std::stop_token& stop);

}  // namespace ratchet::mcp
