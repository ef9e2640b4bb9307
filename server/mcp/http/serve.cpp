#include "server/mcp/http/serve.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "server/mcp/http/access_policy.h"
#include "server/mcp/http/endpoint.h"
#include "server/mcp/http/library.h"

namespace ratchet::mcp {

Result<int> serve_http(Dispatcher& dispatcher, Pool& pool, const HttpOptions& options,
                       const std::stop_token& stop) {
  if (auto error = exposure_error(options, http_library_version())) return *std::move(error);

  HttpEndpoint endpoint(dispatcher, pool, options, stop);
  HttpLibrary library(options, [&dispatcher] { dispatcher.metrics().refused.fetch_add(1); });
  endpoint.add_to(library);
  const auto port = library.open(options.host, options.port);
  if (!port) return port.error();
  if (options.on_listening) options.on_listening(*port);

  // The library ignores a stop before it accepts connections, so a thread waits for that and then
  // stops it.
  std::mutex mutex;
  std::condition_variable_any over;
  bool done = false;
  std::thread stopper([&] {
    std::unique_lock lock(mutex);
    over.wait(lock, stop, [&] { return done; });
    while (!done && !library.is_running())
      over.wait_for(lock, std::chrono::milliseconds(1), [&] { return done; });
    lock.unlock();
    dispatcher.hub().close();
    library.shut();
  });
  library.serve();
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  over.notify_all();
  stopper.join();
  return 0;
}

}  // namespace ratchet::mcp
