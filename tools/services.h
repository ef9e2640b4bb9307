#pragma once

namespace ratchet {

class BackgroundCalls;
class Knowledge;
class Lab;
class Roots;
class Runs;
class Storage;

/// What the tools use. The objects outlive every tool; main owns them.
struct Services {
  Lab& lab;
  Runs& runs;
  Knowledge& knowledge;
  BackgroundCalls& jobs;   ///< runs the calls that take long
  const Storage& storage;  ///< how much the state folder may hold
  const Roots& roots;      ///< where callers may read files and put runs
};

}  // namespace ratchet
