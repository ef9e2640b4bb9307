#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ratchet::demo {

struct DemoOptions {
  std::filesystem::path program;   ///< the server to start
  std::filesystem::path data_dir;  ///< has problems/softmax/walkthrough.json
  std::filesystem::path state_dir;
  std::filesystem::path output_dir;  ///< empty: a new temporary folder
  std::string implementation;        ///< empty: cuda-cpp if there is a GPU, otherwise host-cpp
  std::string python;
  std::vector<std::string> labs;  ///< --lab of the server
  std::vector<std::filesystem::path> labs_files;
  std::string lab;    ///< where to run; empty: on this machine
  bool json = false;  ///< the run's status on stdout, everything else on stderr
};

/// Starts the server as an MCP client would and drives a complete run of two versions of the
/// bundled softmax. Every number shown is measured in that run. Prints to stdout. Returns the exit
/// status: 0 if the run succeeded and the forbidden step was refused.
[[nodiscard]] int play(const DemoOptions& options);

}  // namespace ratchet::demo
