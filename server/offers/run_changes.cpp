#include "server/offers/run_changes.h"

namespace ratchet {

void notify_of_changes(Runs& runs, mcp::Server& server) {
  runs.on_change([&server](const RunChange& change) {
    for (const auto& path : change.paths)
      server.resource_updated("run://" + change.run.text + "/" + path);
    if (change.list_changed) server.publish(mcp::Change::resources);
  });
}

}  // namespace ratchet
