#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/process/python_fork_server.h"
#include "kernels/process/worker_process.h"
#include "kernels/protocol/messages.h"
#include "server/core/call_context.h"
#include "server/core/memory_file.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

/// The init of a tensor whose contents come from a user's function.
inline constexpr std::string_view kGivenInit = "given";

/// A function that makes inputs: `inputs(**dims, seed)` of ref.py, else `setup(**dims, seed)` of
/// the first kernel. It returns {"inputs": {name: tensor or number}, "outputs": [names]}.
struct InputsFunction {
  Source source;
  std::string name;
  bool of_reference = false;
  std::map<std::string, double> scalars = {};  ///< it may ask for, beside dims and seed
};

/// The task's function; empty if neither file has one. Pure.
[[nodiscard]] std::optional<InputsFunction> inputs_function(const Source& kernel,
                                                            const Source& reference);

/// The number that such a function gets as its seed, for a trial's seed.
[[nodiscard]] std::int64_t inputs_seed(std::string_view seed);

/// Runs such a function in its own sandboxed process, which knows neither answers nor other
/// kernels; its seeds are derived from the run's secret.
///
/// Thread rule: as WorkerProcess. Errors: `invalid_argument` naming file, line and cause.
class PythonInputs {
 public:
  static Result<PythonInputs> open(PythonForkServer& python, const InputsFunction& function,
                                   std::optional<int> cuda_device,
                                   std::chrono::milliseconds deadline, const CallContext& call);

  /// The task with the tensors, shapes (as expressions over dims) and scalars that the function
  /// makes. Extents are found by doubling each dim: products of dims, or one dim times a number
  /// plus one. Tensors that the task lists keep their shapes; those of them that have no `init` of
  /// their own become `given`. `parameters`: of a compiled entry, whose pointers to non-const are
  /// outputs where the function does not name any; empty for Python kernels.
  Result<TaskRequest> described(TaskRequest task, const std::vector<Parameter>& parameters,
                                const CallContext& call);

  /// Writes the named tensors, as the function makes them for these sizes, into an arena.
  Status fill(const Dims& dims, const wire::ArenaLayout& layout,
              const std::vector<std::string>& names, std::string_view seed, const MemoryFile& arena,
              const CallContext& call);

 private:
  struct Tensor {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;

    static constexpr void fields(auto&& visit) {
      visit(required("name", &Tensor::name, ""), required("dtype", &Tensor::dtype, ""),
            required("shape", &Tensor::shape, ""));
    }
  };
  struct Made {
    std::vector<Tensor> tensors;
    std::vector<std::string> outputs;
    std::map<std::string, double> scalars;

    static constexpr void fields(auto&& visit) {
      visit(required("tensors", &Made::tensors, ""), required("outputs", &Made::outputs, ""),
            required("scalars", &Made::scalars, ""));
    }
  };
  struct Probe {
    std::string dim;
    Made made;
  };

  PythonInputs(WorkerProcess process, InputsFunction function, std::chrono::milliseconds deadline)
      : process_(std::move(process)), function_(std::move(function)), deadline_(deadline) {}

  Result<Made> describe(const Dims& dims, const CallContext& call);
  [[nodiscard]] Result<Role> role_of(const Tensor& tensor, const Made& made,
                                     const std::vector<Parameter>& parameters) const;
  /// Adds the numbers that the entry takes.
  Status add_scalars(TaskRequest& task, const Dims& dims, const Made& made,
                     const std::vector<Probe>& probes,
                     const std::vector<Parameter>& parameters) const;
  Result<std::vector<std::string>> shape_of(const Tensor& tensor, const Dims& dims,
                                            const std::vector<Probe>& probes) const;
  Result<Json> ask(const Json& question, std::span<const int> descriptors, const CallContext& call);

  WorkerProcess process_;
  InputsFunction function_;
  std::chrono::milliseconds deadline_;
};

}  // namespace ratchet
