#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/process/worker_process.h"
#include "kernels/protocol/messages.h"
#include "server/core/call_context.h"
#include "server/core/memory_file.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// Where workers are started, and how long their jobs may take.
struct WorkerPlace {
  std::filesystem::path worker_dir;
  DeviceKind kind = DeviceKind::host;
  int device = 0;
  std::chrono::milliseconds job_deadline{60'000};  ///< of one execution
};

/// A worker in the role of judge, candidate or counter. `arena_bytes`: the most that it holds at
/// once in arenas, from which its memory limit follows. A GPU is the only one that it sees, and has
/// index 0 there.
[[nodiscard]] WorkerSpec worker_spec(const WorkerPlace& place, const std::string& role,
                                     std::int64_t arena_bytes);

/// A worker that sees all devices, to tell how many there are. It is given no kernel.
[[nodiscard]] WorkerSpec lookout_spec(const WorkerPlace& place);

/// The variable that leaves a process the GPU `index` alone. `visible`: what CUDA_VISIBLE_DEVICES
/// says here; null when it is not set. Pure.
[[nodiscard]] std::string only_gpu(const char* visible, int index);

/// What a kernel is given for one case: the layout of its arena and its arguments.
struct CallPlan {
  wire::ArenaLayout layout;
  std::vector<wire::Argument> arguments;
};

/// One untrusted shared library in its own worker: a candidate, or a compiled reference, which is
/// no more trusted. Once it failed it stays failed: `fault()` tells how.
///
/// Thread rule and errors: as WorkerProcess. Arenas go in sealed; what comes back is sealed before
/// anybody reads it, and a kernel that keeps its answer mapped is at fault.
class CandidateProcess {
 public:
  enum class Use { time, count, compile, baseline };

  /// What is loaded into a worker: the bytes of a shared object or of a Python file.
  struct Code {
    std::string content;
    wire::Load plan;
  };

  /// Starts the worker and loads `library` (the bytes of the shared object). A library that cannot
  /// be loaded is a fault, not an error.
  static Result<CandidateProcess> start(const WorkerPlace& place, Use use, std::int64_t arena_bytes,
                                        std::string_view library, const std::string& entry,
                                        const CallContext& call);

  /// The same in two steps, so that several can start at once, for a worker of any make.
  /// `deadline`: of one execution.
  static Result<CandidateProcess> launch(const WorkerSpec& spec,
                                         std::chrono::milliseconds deadline);
  Status load(const Code& code, const CallContext& call);
  /// Waits until the process is ready for its code; `load` does so, too.
  Status greet(const CallContext& call);

  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  /// What isolates it, as its worker said.
  [[nodiscard]] std::string sandbox() const;
  /// Ends it, and says where its private folder is, which goes away with this object.
  [[nodiscard]] const std::filesystem::path& left_behind();

  /// One call on a copy of `arena`, `shift` bytes into an allocation. Empty after a fault.
  Result<std::optional<MemoryFile>> execute(const CallPlan& plan, const MemoryFile& arena,
                                            std::int64_t shift, const CallContext& call);

  /// Takes device memory in that a judge shares, enough for arenas of `bytes` in all at any shift;
  /// then one call on the arena that the judge laid out `at` bytes into it.
  Status attach(int descriptor, std::int64_t bytes, const CallContext& call);
  Status run_attached(const CallPlan& plan, std::int64_t at, const CallContext& call);

  /// One call with every buffer in memory of its own; see wire::Exercise. Then its end, and the
  /// private folder with what the tool around it wrote there.
  Status exercise(const CallPlan& plan, const MemoryFile& arena, const CallContext& call);
  [[nodiscard]] const std::filesystem::path& finished(std::chrono::milliseconds limit);

  /// For timing and counting: takes the arenas in, or those that a judge laid out in the attached
  /// memory.
  struct Rotation {
    std::vector<const MemoryFile*> arenas;
    std::int64_t shift = 0;
    std::vector<std::int64_t> at;            ///< of arenas in attached memory, bytes
    bool writes_all = true;                  ///< see wire::Prepare
    std::vector<std::string> refresh_seeds;  ///< see wire::Prepare
  };
  Status prepare(const CallPlan& plan, const Rotation& rotation, const CallContext& call);
  Result<wire::Samples> time(const wire::TimeBlock& block, const CallContext& call);
  /// Arena `index` of the rotation as the timed calls left it, and how many they were by the word
  /// of the process. Empty after a fault.
  struct Collected {
    MemoryFile arena;
    int uses = 0;
  };
  Result<std::optional<Collected>> collect(int index, std::int64_t bytes, const CallContext& call);
  /// The same of an arena in attached memory, of which only the number of calls is asked for.
  Result<int> uses(int index, const CallContext& call);
  Result<wire::Counters> count(const wire::Count& plan, const CallContext& call);

 private:
  CandidateProcess(WorkerProcess worker, std::chrono::milliseconds deadline)
      : worker_(std::move(worker)), deadline_(deadline) {}

  /// Runs a job unless the kernel has already failed; remembers a fault.
  Result<wire::Reply> ask(const wire::Request& request, std::span<const int> descriptors,
                          std::chrono::milliseconds deadline, const CallContext& call);
  Result<std::optional<MemoryFile>> sealed(MemoryFile file);
  /// Asks for an arena of the rotation, and holds the number of its calls against reason.
  Result<int> collected(int index, std::span<const int> descriptors, const CallContext& call);

  WorkerProcess worker_;
  std::chrono::milliseconds deadline_;
  std::optional<Fault> fault_;
  bool greeted_ = false;
};

}  // namespace ratchet
