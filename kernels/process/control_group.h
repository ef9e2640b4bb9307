#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/fd.h"

namespace ratchet {

/// The paths of this process's control groups: by controller, of version 2 under "".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> own_groups();

/// Three quarters of the machine's memory: what foreign code may use where nobody set less.
[[nodiscard]] std::size_t most_memory();
/// What a limit in bytes stands for: 0 is `most_memory`.
[[nodiscard]] std::size_t memory_limit(std::size_t bytes);

/// What the processes of a control group may use together.
struct GroupLimits {
  std::size_t memory_bytes = 0;  ///< 0: `most_memory`
  int processes = 1024;          ///< threads included
  int weight = 100;              ///< share of the processors beside others' 100
};

/// A control group of Linux for one untrusted process and all that it starts: a child of the
/// server's own group, version 2 where that is delegated to the server, else version 1. The
/// destructor kills what is left in it and removes it. Thread rule: one thread at a time; `make`
/// may be called from any.
class ControlGroup {
 public:
  /// Empty if the system lets this process make no groups; `description` tells why.
  static std::optional<ControlGroup> make(const GroupLimits& limits);
  /// Folders of control groups, by controller; version 2 has one, under "".
  using Folders = std::vector<std::pair<std::string, std::filesystem::path>>;
  /// `make` within these. What cannot be made there or not entered is left out.
  static std::optional<ControlGroup> make_in(const Folders& folders, const GroupLimits& limits);
  /// "control groups 2", or why there are none: "no control group (not delegated)".
  [[nodiscard]] static std::string description();

  ControlGroup(ControlGroup&& other) noexcept = default;
  ControlGroup& operator=(ControlGroup&& other) noexcept;
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  ~ControlGroup();

  /// Descriptors to which a process writes "0" to enter; see ProcessSpec::joins.
  [[nodiscard]] std::vector<int> doors() const;
  /// Whether the system took the limit: a group may lack a controller, or refuse what is written.
  [[nodiscard]] bool limits_memory() const { return taken_.memory; }
  [[nodiscard]] bool limits_processes() const { return taken_.processes; }
  /// Whether the system ended a process of the group because its memory was used up.
  [[nodiscard]] bool ran_out_of_memory() const;

 private:
  struct Part {
    std::filesystem::path folder;
    Fd door;
  };
  struct Taken {
    bool memory = false;
    bool processes = false;
  };

  static Taken limit(const std::filesystem::path& folder, const std::string& controller,
                     const GroupLimits& limits);

  ControlGroup() = default;
  void end();

  std::vector<Part> parts_;
  Taken taken_;
};

/// What isolates a process: `walls`, as it says itself (confine::Walls::text), and its group, or
/// null. What no group limits is listed behind the semicolon, with the walls that are missing: the
/// server counts that now and then, and a process may have more of it for as long.
[[nodiscard]] std::string with_group(const std::string& walls, const ControlGroup* group);

/// Whether such a text lists a missing wall that lets a kernel reach what it must not. A missing
/// group is none: it bounds what a kernel uses, which the server then does itself.
[[nodiscard]] bool lacks_a_wall(std::string_view walls);

}  // namespace ratchet
