#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "server/core/fd.h"
#include "server/core/result.h"

namespace ratchet {

/// What to start and with what. Descriptors not listed in `descriptors` are closed in the child.
struct ProcessSpec {
  std::vector<std::string> argv;         ///< argv[0] is a path, or a name searched in PATH
  std::vector<std::string> environment;  ///< "NAME=value"; the whole environment of the child
  std::filesystem::path folder;          ///< working directory; empty keeps ours
  std::vector<std::pair<int, int>>
      descriptors;  ///< {ours, number in the child}; 0, 1, 2 default to /dev/null
  std::optional<std::size_t> address_space_bytes;  ///< RLIMIT_AS
  std::optional<std::size_t> file_size_bytes;      ///< RLIMIT_FSIZE
};

/// How a process ended.
struct ExitStatus {
  int code = 0;    ///< exit code; meaningless when `signal` is set
  int signal = 0;  ///< the signal that ended it, or 0

  [[nodiscard]] bool clean() const { return code == 0 && signal == 0; }
  /// "exit code 3" or "signal 11 (Segmentation fault)".
  [[nodiscard]] std::string text() const;
};

/// A child in its own process group. The destructor kills the whole group and reaps the child.
///
/// Thread rule: one thread at a time. The child gets SIGKILL when the *thread* that spawned it ends
/// (that is how the kernel defines a parent's death): spawn from a thread that outlives the child.
class Process {
 public:
  static Result<Process> spawn(const ProcessSpec& spec);
  /// An orphan that became our child and leads a process group of its own; see
  /// PR_SET_CHILD_SUBREAPER. It ends with us only if it asked for that itself.
  static Process adopted(pid_t pid) { return Process(pid); }

  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Its status when it has ended, without waiting.
  [[nodiscard]] std::optional<ExitStatus> poll();
  /// Waits up to `limit`; empty when it still runs then.
  [[nodiscard]] std::optional<ExitStatus> wait_for(std::chrono::milliseconds limit);
  /// SIGKILL to the group, then reaps.
  ExitStatus kill();

 private:
  explicit Process(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
};

/// What a finished helper program (compiler, disassembler, python) said.
struct Captured {
  ExitStatus status;
  std::string out;
  std::string err;
  bool timed_out = false;  ///< killed at the deadline; `status` is then of the kill
  bool truncated = false;  ///< an output was longer than the cap
  std::chrono::nanoseconds elapsed{};
};

/// Runs a program to its end and captures both outputs, at most `output_limit` bytes each.
/// Errors: `unavailable` when it cannot be started; `timed_out` when `stop` asked for the end.
[[nodiscard]] Result<Captured> run_program(const ProcessSpec& spec, std::chrono::milliseconds limit,
                                           const std::stop_token& stop = {},
                                           std::size_t output_limit = std::size_t{1} << 20U);

/// The path of a program in PATH, or of `name` itself when it has a slash; empty when absent.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name);

/// "NAME=value" for each given variable that is set here; for children that get nothing else.
[[nodiscard]] std::vector<std::string> inherited_environment(const std::vector<std::string>& names);

}  // namespace ratchet
