#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/process/spare_workers.h"
#include "kernels/process/worker_process.h"
#include "kernels/protocol/messages.h"
#include "server/core/call_context.h"
#include "server/core/memory_file.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// One whole GPU.
struct OneGpu {
  std::string uuid;
  std::filesystem::path node;  ///< in /dev
};

/// Where workers are started, and how long their jobs may take.
struct WorkerPlace {
  std::filesystem::path worker_dir;
  DeviceKind kind = DeviceKind::host;
  int device = 0;
  std::chrono::milliseconds job_deadline{60'000};  ///< of one execution
  std::optional<OneGpu> gpu{};                     ///< where it is known
};

/// A worker in the role of judge, candidate or counter. `arena_bytes`: the most it holds in arenas
/// at once, which determines its memory limit. On a GPU it sees only that device, as index 0, and
/// its walls let it open no other's node.
[[nodiscard]] WorkerSpec worker_spec(const WorkerPlace& place, const std::string& role,
                                     std::int64_t arena_bytes);

/// A worker that sees all devices, to count them. It never receives a kernel.
[[nodiscard]] WorkerSpec lookout_spec(const WorkerPlace& place);

/// The environment variable that limits a process to GPU `index`. `visible`: CUDA_VISIBLE_DEVICES
/// of this process; null if unset. Pure.
[[nodiscard]] std::string only_gpu(const char* visible, int index);

/// The input of a kernel for one case: the layout of its arena and its arguments.
struct CallPlan {
  wire::ArenaLayout layout;
  std::vector<wire::Argument> arguments;
};

/// One untrusted shared library in its own worker: a candidate, or a compiled reference, which is
/// trusted no more. A failure is permanent; `fault()` describes it.
///
/// Thread rule and errors: as WorkerProcess. Arenas are sealed before they are sent and before
/// results are read; a kernel that keeps its answer mapped is at fault.
class CandidateProcess {
 public:
  enum class Use { time, count, compile, baseline };

  /// The code a worker loads: the bytes of a shared object or of a Python file.
  struct Code {
    std::string content;
    wire::Load plan;
  };

  /// Starts the worker and loads `library` (the bytes of the shared object). A library that cannot
  /// be loaded is a fault, not an error.
  static Result<CandidateProcess> start(const WorkerPlace& place, Use use, std::int64_t arena_bytes,
                                        std::string_view library, const std::string& entry,
                                        const CallContext& call);

  /// `start` in two steps, for any kind of worker, so that several can start at once. `deadline`:
  /// of one execution. `spares`: where it may come from; null: a new one.
  static Result<CandidateProcess> launch(const WorkerSpec& spec, std::chrono::milliseconds deadline,
                                         SpareWorkers* spares = nullptr);
  Status load(const Code& code, const CallContext& call);
  /// Waits until the process is ready for its code; `load` does this too.
  Status greet(const CallContext& call);

  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  /// What isolates it; see with_group.
  [[nodiscard]] const std::string& sandbox() const { return worker_.walls(); }
  /// Ends the process and returns its private folder, which is removed with this object.
  [[nodiscard]] const std::filesystem::path& left_behind();

  /// One call on a copy of `arena`, `shift` bytes into an allocation. Empty after a fault.
  /// `inputs`: a call of the function that makes them instead; only of a Python reference's
  /// process.
  Result<std::optional<MemoryFile>> execute(const CallPlan& plan, const MemoryFile& arena,
                                            std::int64_t shift, const CallContext& call,
                                            const std::optional<wire::MadeInputs>& inputs = {});

  /// Attaches device memory that a judge shares, all of its descriptors, enough for arenas of
  /// `bytes` in total at any shift. `run_attached` then makes one call on the arena generated at
  /// offset `at`.
  Status attach(std::span<const Fd> memory, std::int64_t bytes, const CallContext& call);
  /// Lets go of it.
  Status detach(const CallContext& call);
  /// The same of memory for calls in float64, beside the other; only of a Python reference's
  /// process. `run_wide`: one such call at its beginning. What it raised is no fault of this
  /// process, and returned; any other failure is both.
  Status attach_wide(std::span<const Fd> memory, std::int64_t bytes, const CallContext& call);
  Result<std::optional<Fault>> run_wide(const CallPlan& plan, const CallContext& call);
  Status run_attached(const CallPlan& plan, std::int64_t at, const CallContext& call,
                      const std::optional<wire::MadeInputs>& inputs = {});

  /// One call with every buffer in a separate allocation; see wire::Exercise. `finished` then ends
  /// the process and returns the private folder with the surrounding tool's output.
  Status exercise(const CallPlan& plan, const MemoryFile& arena, const CallContext& call);
  [[nodiscard]] const std::filesystem::path& finished(std::chrono::milliseconds limit);

  /// For timing and counting: the arenas to upload, or their offsets if a judge generated them in
  /// the attached memory.
  struct Rotation {
    std::vector<const MemoryFile*> arenas;
    std::int64_t shift = 0;
    std::vector<std::int64_t> at;            ///< of arenas in attached memory, bytes
    bool writes_all = true;                  ///< see wire::Prepare
    std::vector<std::string> refresh_seeds;  ///< see wire::Prepare
  };
  Status prepare(const CallPlan& plan, const Rotation& rotation, const CallContext& call);
  Result<wire::Samples> time(const wire::TimeBlock& block, const CallContext& call);
  /// Arena `index` of the rotation as the timed calls left it, and the number of calls the process
  /// reports. Empty after a fault.
  struct Collected {
    MemoryFile arena;
    int uses = 0;
  };
  Result<std::optional<Collected>> collect(int index, std::int64_t bytes, const CallContext& call);
  /// The number of calls alone, for an arena in attached memory.
  Result<int> uses(int index, const CallContext& call);
  Result<wire::Counters> count(const wire::Count& plan, const CallContext& call);

 private:
  CandidateProcess(WorkerProcess worker, std::chrono::milliseconds deadline)
      : worker_(std::move(worker)), deadline_(deadline) {}

  /// Sends a request unless the kernel has already failed; records a fault.
  Result<wire::Reply> ask(const wire::Request& request, std::span<const int> descriptors,
                          std::chrono::milliseconds deadline, const CallContext& call);
  Result<std::optional<MemoryFile>> sealed(MemoryFile file);
  Status attach(std::span<const Fd> memory, const wire::Attach& plan, const CallContext& call);
  /// Requests an arena of the rotation and checks its number of calls for plausibility.
  Result<int> collected(int index, std::span<const int> descriptors, const CallContext& call);

  WorkerProcess worker_;
  std::chrono::milliseconds deadline_;
  std::optional<Fault> fault_;
  bool greeted_ = false;
};

}  // namespace ratchet
