#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernels/contract/problems.h"
#include "kernels/process/python_fork_server.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/problem_import.h"

namespace ratchet {

/// Makes a problem folder of a problem that another suite wrote. The suite's own code runs in a
/// sandboxed process (python/problems.py, and one file per format in python/formats), which looks
/// at the problem, tries its reference on the processor and tells what to write.
///
/// The folder appears whole or not at all. Thread rule: as WorkerProcess. Errors:
/// `invalid_argument` naming file, line and the way on; `not_permitted` where the folder exists and
/// is not empty.
[[nodiscard]] Result<ImportedProblem> import_problem(PythonForkServer& python,
                                                     const ProblemImport& asked,
                                                     std::chrono::milliseconds deadline,
                                                     const CallContext& call);

}  // namespace ratchet
