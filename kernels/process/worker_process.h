#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/process/private_folder.h"
#include "kernels/protocol/messages.h"
#include "server/core/call_context.h"
#include "server/core/channel.h"
#include "server/core/process.h"
#include "server/core/result.h"

namespace ratchet {

/// What to start as a worker. It finds its end of the channel on descriptor 3.
struct WorkerSpec {
  std::vector<std::string> argv;
  std::vector<std::string> environment;              ///< NAME=value, in place of the inherited
  std::optional<std::size_t> address_space_bytes;    ///< RLIMIT_AS; not for CUDA, which reserves it
  std::optional<std::size_t> resident_bytes;         ///< watched while a job runs
  std::chrono::milliseconds start_deadline{30'000};  ///< a CUDA context takes 0.2 to 2 s
  bool gives_descriptors = false;  ///< may answer with descriptors: only where no kernel runs
  /// How the process is made; empty: `Process::spawn`.
  std::function<Result<Process>(const ProcessSpec&)> spawn;
  /// Puts files into its private folder before it starts; may be empty.
  std::function<Status(const std::filesystem::path&)> furnish;
};

/// A child process that answers jobs: ratchet-worker, or the Python adapter.
///
/// It runs in its own process group and private empty folder, with an environment of PATH,
/// LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES, HOME and TMPDIR. What it prints is read while a job runs;
/// only the last lines are kept. Destroying it kills the group and all descendants and removes the
/// folder. Thread rule: one thread, and the one that started it must outlive it (see Process).
///
/// Whose fault: a process that never says READY is ours (`unavailable`). One that dies, hangs,
/// floods, outgrows its memory or answers what nobody asked during a job is the kernel's doing: the
/// answer holds a Fault, and the worker is dead from then on.
/// Errors: `timed_out` when the call was cancelled; `unavailable` for a worker that is dead.
class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const WorkerSpec& spec, const CallContext& call);

  /// `start` in two steps, so that several can start at once: the process under way, and the wait
  /// until it is ready, which comes before anything is asked.
  static Result<WorkerProcess> launch(const WorkerSpec& spec);
  Status greet(const CallContext& call);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  /// What it said when it was ready.
  [[nodiscard]] const Json& ready() const { return ready_; }
  [[nodiscard]] bool alive() const { return process_.has_value(); }
  /// Its private folder, which stays when it has ended. What lies there is the worker's word.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  /// Kills the group and all descendants. Safe to call again.
  void end();

  /// Closes the channel, which asks it to end by itself, and waits so long before it is killed.
  /// Whether it ended by itself.
  bool finish(std::chrono::milliseconds limit);

  struct Answer {
    Json body;
    std::optional<Fault> fault;        ///< of the process; `body` is null then
    std::vector<Fd> descriptors = {};  ///< of a worker that may give them
  };

  /// One question, one answer, within the deadline.
  Result<Answer> ask(const Json& question, std::span<const int> descriptors,
                     std::chrono::milliseconds deadline, const CallContext& call);

  /// `ask` in the types of messages.h. A fault of the process becomes the reply's; the reply's
  /// `error` (our side) becomes an Error.
  Result<wire::Reply> run(const wire::Request& request, std::span<const int> descriptors,
                          std::chrono::milliseconds deadline, const CallContext& call);

 private:
  WorkerProcess(WorkerSpec spec, PrivateFolder folder, Process process, Channel channel, Fd output);

  Result<Answer> await(std::uint64_t id, std::chrono::milliseconds limit, const CallContext& call);
  /// What ended the wait, when it was not an answer.
  std::optional<Fault> trouble(std::chrono::steady_clock::time_point deadline);
  void read_output();
  [[nodiscard]] std::string last_lines() const;
  Fault ended();

  WorkerSpec spec_;
  PrivateFolder folder_;
  std::optional<Process> process_;
  std::optional<Channel> channel_;
  Fd output_;
  std::string tail_;
  std::size_t printed_bytes_ = 0;
  Json ready_;
};

}  // namespace ratchet
