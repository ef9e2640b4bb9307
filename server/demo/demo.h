#pragma once

#include <filesystem>
#include <string>

namespace ratchet::demo {

struct DemoOptions {
  std::filesystem::path program;   ///< the server to start
  std::filesystem::path data_dir;  ///< holds problems/softmax/walkthrough.json
  std::filesystem::path state_dir;
  std::filesystem::path output_dir;  ///< empty: a new folder below the temporary one
  std::string implementation;        ///< empty: cuda-cpp where a GPU answers, else host-cpp
  std::string python;
};

/// Starts the server as an MCP client would and drives a whole run of two versions on the shipped
/// softmax: every number shown is measured in that run. Prints to stdout.
/// Returns the exit status: 0 when the run went through and the forbidden step was refused.
[[nodiscard]] int play(const DemoOptions& options);

}  // namespace ratchet::demo
