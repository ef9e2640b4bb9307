#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "server/core/fd.h"
#include "tests/attacks/walls/probe.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {

/// Bytes of memory that a worker may have here.
inline constexpr std::int64_t kWallMemory = std::int64_t{1280} << 20U;

/// What one probe of tests/attacks/walls reaches for: files, sockets and a living process of the
/// server's, and the same of another kernel's worker. Made anew for every attempt.
class WallTargets {
 public:
  /// `neighbor`: the user of the other worker, which may be this process's own.
  explicit WallTargets(uid_t neighbor);
  ~WallTargets();
  WallTargets(const WallTargets&) = delete;
  WallTargets& operator=(const WallTargets&) = delete;

  /// Amounts are those that a worker must not have, or where nothing limits them, small ones.
  [[nodiscard]] walls::Prey prey(const std::string& probe, int variant, bool confined) const;

  /// The first thing of theirs that is no longer as it was: "the server's file secret"; empty if
  /// nothing has changed. Whatever the probe said, this is what happened.
  [[nodiscard]] std::string changed() const;

 private:
  using State = std::map<std::string, std::string>;

  struct Side {
    const char* name;
    uid_t user;
    walls::Target told;
    Fd door, hall;           ///< the listening sockets
    int* signals = nullptr;  ///< it received, two counters; shared with it
  };

  void remove_marks() const;
  void furnish(Side& side);
  void start(Side& side);
  static void note_files(const Side& side, State& state);
  static void note_process(const Side& side, State& state);
  [[nodiscard]] State state() const;

  TempFolder folder_;
  Fd server_;  ///< on a port of the loopback
  int port_ = 0;
  std::array<Side, 2> sides_;
  std::string mark_;  ///< see walls::Prey
  int key_ = 0;
  State before_;
};

}  // namespace ratchet::test
