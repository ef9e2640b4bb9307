#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/process/control_group.h"
#include "kernels/process/private_folder.h"
#include "kernels/protocol/messages.h"
#include "server/core/call_context.h"
#include "server/core/channel.h"
#include "server/core/process.h"
#include "server/core/result.h"

namespace ratchet {

/// How to start a worker. Its end of the channel is descriptor 3.
struct WorkerSpec {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< NAME=value; replaces the inherited one
  std::optional<std::size_t>
      address_space_bytes;       ///< RLIMIT_AS; not for CUDA, which reserves address space
  std::size_t memory_bytes = 0;  ///< of the process and all that it starts; 0: `most_memory`
  std::optional<std::size_t> resident_bytes;         ///< checked while a job runs
  std::optional<int> processors;                     ///< runs on so many at most
  std::chrono::milliseconds start_deadline{30'000};  ///< a CUDA context takes 0.2 to 2 s
  bool gives_descriptors = false;  ///< may reply with descriptors: only where no kernel runs
  /// Creates the process; empty: `Process::spawn`.
  std::function<Result<Process>(const ProcessSpec&)> spawn;
  /// Adds files to its private folder before it starts; may be empty.
  std::function<Status(const std::filesystem::path&)> furnish;
};

/// A child process that answers jobs: ratchet-worker, or the Python adapter.
///
/// It runs in its own session, control group (where the system has them) and private empty folder,
/// with only PATH, LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES, HOME and TMPDIR in its environment. Its
/// output is read while a job runs; only the last lines are kept. The destructor kills the group
/// and all descendants and removes the folder. Thread rule: one thread; the thread that started it
/// must outlive it (see Process).
///
/// A process that never reports READY is our failure (`unavailable`). One that dies, hangs, floods
/// its output, exceeds its memory or sends an unexpected answer during a job is the kernel's fault:
/// the answer holds a Fault, and the worker is dead from then on. Errors: `timed_out` when the call
/// was canceled; `unavailable` for a dead worker.
class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const WorkerSpec& spec, const CallContext& call);

  /// `start` in two steps, so that several can start at once: `launch` creates the process, `greet`
  /// waits until it is ready, once, and must precede any request.
  static Result<WorkerProcess> launch(const WorkerSpec& spec);
  Status greet(const CallContext& call);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  /// Its READY message.
  [[nodiscard]] const Json& ready() const { return ready_; }
  /// What isolates it; see with_group. Empty before it is ready.
  [[nodiscard]] const std::string& walls() const { return walls_; }
  [[nodiscard]] bool alive() const { return process_.has_value(); }
  /// Whether it is dead, though nobody has asked it anything since.
  [[nodiscard]] bool died() { return !process_ || process_->poll().has_value(); }
  /// Its private folder, which remains after the process ended. Its content is untrusted.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  /// Kills the group and all descendants. Safe to call again.
  void end();

  /// Closes the channel, which asks the process to exit, and kills it after `limit`. True if it
  /// exited by itself.
  bool finish(std::chrono::milliseconds limit);

  struct Answer {
    Json body;
    std::optional<Fault> fault;        ///< of the process; `body` is null then
    std::vector<Fd> descriptors = {};  ///< of a worker that may give them
  };

  /// Sends one question and returns its answer, within the deadline.
  Result<Answer> ask(const Json& question, std::span<const int> descriptors,
                     std::chrono::milliseconds deadline, const CallContext& call);

  /// `ask` with the types of messages.h. A fault of the process is moved into the reply; the
  /// reply's `error` (our side) becomes an Error.
  Result<wire::Reply> run(const wire::Request& request, std::span<const int> descriptors,
                          std::chrono::milliseconds deadline, const CallContext& call);

 private:
  WorkerProcess(WorkerSpec spec, PrivateFolder folder, std::optional<ControlGroup> group,
                Process process, Channel channel, Fd output);

  Result<Answer> await(std::uint64_t id, std::chrono::milliseconds limit, const CallContext& call);
  /// What the worker's folder holds, and what its processes use as far as no control group limits
  /// it.
  std::optional<Fault> excess();
  /// Why the wait ended without an answer.
  std::optional<Fault> trouble(std::chrono::steady_clock::time_point deadline);
  /// Of memory, by whichever limit is the lower.
  [[nodiscard]] std::size_t allowed_bytes() const;
  /// What a process that is late has of that; empty if it is less than half.
  [[nodiscard]] std::string held() const;
  void read_output();
  [[nodiscard]] std::string last_lines() const;
  Fault ended();

  WorkerSpec spec_;
  PrivateFolder folder_;
  std::optional<ControlGroup> group_;
  std::optional<Process> process_;
  std::optional<Channel> channel_;
  Fd output_;
  std::string tail_;
  std::size_t printed_bytes_ = 0;
  int ticks_ = 0;  ///< of waiting; what costs more is looked at every few
  Json ready_;
  std::string walls_;
};

}  // namespace ratchet
