#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernels/process/candidate_process.h"
#include "kernels/process/worker_process.h"
#include "server/core/call_context.h"
#include "server/core/result.h"

namespace ratchet {

/// The frameworks that a Python source mentions and its process must import: numpy, torch, triton.
[[nodiscard]] std::vector<std::string> frameworks_in(std::string_view source);

/// A warm Python process (python/fork_server.py) that imports frameworks once and forks a process
/// per job, which saves each job the seconds of `import torch`. It runs no user code and never
/// initializes CUDA. Started when first needed, and again if it died.
///
/// Thread rule: all methods may be called from several threads. Its children are children of this
/// process: `guard_server_process` must have been called. Errors: `unavailable` when the
/// interpreter does not start, or lacks a required framework.
class PythonForkServer {
 public:
  struct Options {
    std::string python;
    std::filesystem::path data_dir;      ///< holds python/fork_server.py
    std::filesystem::path worker_dir;    ///< holds the libraries that host the job loop
    DeviceKind kind = DeviceKind::host;  ///< on the host, Triton kernels are interpreted
  };

  explicit PythonForkServer(Options options) : options_(std::move(options)) {}
  PythonForkServer(const PythonForkServer&) = delete;
  PythonForkServer& operator=(const PythonForkServer&) = delete;

  /// A process for a Python kernel or baseline: a worker's job loop embedded in an interpreter.
  /// `role` and `arena_bytes` as in `worker_spec`. `source` determines the frameworks to import; a
  /// baseline's source can import modules from its own folder.
  [[nodiscard]] WorkerSpec kernel_spec(const WorkerPlace& place, const std::string& role,
                                       std::int64_t arena_bytes, const Source& source);

  /// The same without the warm process, for a tool that must start the process itself. It imports
  /// the frameworks first, which takes seconds.
  [[nodiscard]] WorkerSpec alone_spec(const WorkerPlace& place, const std::string& role,
                                      const Source& source) const;

  /// A process that serves a `ref.py` (`part`: reference), or the function of a file that makes
  /// inputs (inputs).
  [[nodiscard]] WorkerSpec server_spec(const std::string& part, std::string_view source);

  /// "python 3.12.3, torch 2.11.0, triton 3.6.0": the versions under which this source would run.
  Result<std::string> versions(std::string_view source, const CallContext& call);

  /// Begins to import what this source needs, once, and does not wait for it: who needs it does.
  void begin_import(const std::string& source);

 private:
  struct Child {
    std::string part;
    Json plan;
    std::vector<std::string> needs;
    std::vector<std::string> required;
  };

  [[nodiscard]] std::string library() const;
  [[nodiscard]] std::vector<std::string> needs_of(std::string_view source) const;
  [[nodiscard]] Child kernel_child(const WorkerPlace& place, const std::string& role,
                                   const Source& source) const;
  [[nodiscard]] WorkerSpec spec_of(Child child);
  Result<Process> fork(const Child& child, const ProcessSpec& spec);
  Result<Json> ask(const Json& question, std::span<const int> descriptors, const CallContext& call);
  Status start();

  Options options_;
  std::timed_mutex guard_;  // of what follows
  std::optional<WorkerProcess> process_;
  std::condition_variable_any never_;
  std::jthread keeper_;  // the process dies with the thread that started it
  std::mutex begun_guard_;
  std::set<std::vector<std::string>> begun_;  // under begun_guard_, as the next
  std::vector<std::jthread> importers_;       // one of each in begun_; last: they use the others
};

}  // namespace ratchet
