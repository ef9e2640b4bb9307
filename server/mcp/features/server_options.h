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

/// What the server offers. Fixed when it starts; lists keep the order given here.
struct ServerOptions {
  std::string name = "ratchet";
  std::string title = "Ratchet";
  std::string version;
  std::string instructions;  ///< at most 2 KB: clients cut there
  std::vector<OfferedTool> tools;
  std::vector<Prompt> prompts;
  std::vector<ResourceProvider> resources;
  std::vector<Skill> skills;    ///< their files are resources; not empty offers the extension
  std::shared_ptr<BackgroundCalls> jobs;   ///< of the tools that are long_running; offers the tasks extension
  bool lists_change = false;    ///< declares listChanged for tools and prompts
  std::size_t page_size = 200;  ///< entries of one page of a list
  /// Reading calls that may be slow at once. Most of them wait for files, not for a core.
  std::size_t threads =
      std::max<std::size_t>(64, std::size_t{4} * std::thread::hardware_concurrency());
  std::size_t work_threads = 16;  ///< other calls at once; further ones wait their turn
};

}  // namespace ratchet::mcp
