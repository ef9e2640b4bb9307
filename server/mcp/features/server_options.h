#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/core/background_calls.h"
#include "server/mcp/features/features.h"

namespace ratchet::mcp {

/// What the server offers. Fixed when it starts; lists keep this order.
struct ServerOptions {
  std::string name = "ratchet";
  std::string title = "Ratchet";
  std::string version;
  std::string instructions;  ///< at most 2 KB: clients truncate there
  std::vector<OfferedTool> tools;
  std::vector<Prompt> prompts;
  std::vector<ResourceProvider> resources;
  std::vector<Skill> skills;  ///< their files are resources; if any, the extension is offered
  std::shared_ptr<BackgroundCalls>
      jobs;                     ///< of long-running tools; if set, the tasks extension is offered
  bool lists_change = false;    ///< declare listChanged for tools and prompts
  std::size_t page_size = 200;  ///< entries per page of a list
  /// Limit of concurrent reading calls. Most of them wait for files, not for a core.
  std::size_t threads =
      std::max<std::size_t>(64, std::size_t{4} * std::thread::hardware_concurrency());
  std::size_t work_threads = 16;  ///< limit of other concurrent calls; more are queued
  /// Limit of concurrent calls that only wait for their jobs: more than there may be jobs.
  std::size_t wait_threads = 96;
  std::size_t most_queued = 128;  ///< of each kind; more are refused
};

}  // namespace ratchet::mcp
