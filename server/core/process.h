#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "server/core/fd.h"
#include "server/core/result.h"

namespace ratchet {

/// How to start a process. The child gets only the descriptors listed in `descriptors`.
struct ProcessSpec {
  std::vector<std::string> argv;         ///< argv[0] is a path, or a name to search in PATH
  std::vector<std::string> environment;  ///< "NAME=value"; the whole environment of the child
  std::filesystem::path folder;          ///< working directory; empty: the parent's
  std::vector<std::pair<int, int>>
      descriptors;  ///< {parent's, child's}; 0, 1 and 2 default to /dev/null
  /// Files to which the child writes "0" first: control groups to enter. If it cannot, it does not
  /// start.
  std::vector<int> joins;
  std::optional<std::size_t> address_space_bytes;  ///< RLIMIT_AS
  std::optional<std::size_t> file_size_bytes;      ///< RLIMIT_FSIZE
  std::optional<int> processors;  ///< runs on so many, at most, of those that the caller may use
};

/// How a process ended.
struct ExitStatus {
  int code = 0;    ///< exit code; meaningless when `signal` is set
  int signal = 0;  ///< the signal that ended it, or 0

  [[nodiscard]] bool clean() const { return code == 0 && signal == 0; }
  /// "exit code 3" or "signal 11 (Segmentation fault)".
  [[nodiscard]] std::string text() const;
};

/// A child in its own session and process group. The destructor kills the whole group and reaps the
/// child.
///
/// One thread at a time. The child gets SIGKILL when the *thread* that spawned it ends (the
/// kernel's definition of a parent's death): spawn from a thread that outlives the child.
class Process {
 public:
  static Result<Process> spawn(const ProcessSpec& spec);
  /// An orphan that became a child of this process and leads its own process group; see
  /// PR_SET_CHILD_SUBREAPER. It dies with this process only if it requested that itself.
  static Process adopted(pid_t pid) { return Process(pid); }

  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The status if the child has ended; does not wait.
  [[nodiscard]] std::optional<ExitStatus> poll();
  /// Waits up to `limit`; empty when the child is then still running.
  [[nodiscard]] std::optional<ExitStatus> wait_for(std::chrono::milliseconds limit);
  /// Sends SIGKILL to the group and reaps the child.
  ExitStatus kill();

 private:
  explicit Process(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
};

/// The output of a finished helper program (compiler, disassembler, python).
struct Captured {
  ExitStatus status;
  std::string out;
  std::string err;
  bool timed_out = false;  ///< killed at the deadline; `status` is then that of the kill
  bool truncated = false;  ///< an output exceeded `output_limit`
  std::chrono::nanoseconds elapsed{};
};

/// Asked about a program many times a second while it runs; true kills it.
using Watch = std::function<bool(pid_t)>;

/// Runs a program to completion and captures both outputs, at most `output_limit` bytes each.
/// Errors: `unavailable` when it cannot be started; `timed_out` when `stop` is requested.
[[nodiscard]] Result<Captured> run_program(const ProcessSpec& spec, std::chrono::milliseconds limit,
                                           const std::stop_token& stop = {},
                                           std::size_t output_limit = std::size_t{1} << 20U,
                                           const Watch& watch = {});

/// The path of a program in PATH, or `name` itself when it has a slash; empty when absent.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name);

/// "NAME=value" for each of these variables that is set; the environment of a child process.
[[nodiscard]] std::vector<std::string> inherited_environment(const std::vector<std::string>& names);
/// All of this process's, for programs that act for the user.
[[nodiscard]] std::vector<std::string> whole_environment();

/// Both ends of a pipe, closed in programs that are started without naming them.
struct Pipe {
  Fd out;  ///< to read from
  Fd in;   ///< to write to

  /// Errors: `unavailable`.
  [[nodiscard]] static Result<Pipe> open();
};

}  // namespace ratchet
