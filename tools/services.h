#pragma once

#include <filesystem>
#include <vector>

namespace ratchet {

class BackgroundCalls;
class Knowledge;
class Lab;
class Runs;

/// What the tools use. The objects outlive every tool; main owns them.
struct Services {
  Lab& lab;
  Runs& runs;
  Knowledge& knowledge;
  BackgroundCalls& jobs;                     ///< runs the calls that take long
  std::vector<std::filesystem::path> roots;  ///< folders from which callers may read files
};

}  // namespace ratchet
