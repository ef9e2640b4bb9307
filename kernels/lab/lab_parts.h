#pragma once

// What the parts of the Laboratory hand to each other.

#include <chrono>
#include <string>
#include <vector>

#include "kernels/lab_requests.h"
#include "kernels/process/candidate_process.h"
#include "kernels/process/worker_process.h"
#include "kernels/timing/timing_session.h"
#include "server/facts/environment.h"

namespace ratchet {

/// What a device says of itself, and what isolates candidates on it.
struct Greeting {
  DeviceInfo device;
  std::string sandbox;
  int devices = 1;  ///< of its kind that there are
};

/// How a candidate's process is made and what it loads.
struct StartPlan {
  WorkerSpec spec;
  std::chrono::milliseconds deadline;
  CandidateProcess::Code code;
};

/// Who takes part in the benchmark of one case, and who could not.
struct BenchmarkField {
  std::vector<std::string> names;
  std::vector<CandidateProcess> processes;  ///< parallel to `names`
  std::vector<BenchmarkRow> absent;

  [[nodiscard]] std::vector<Contestant> contestants() {
    std::vector<Contestant> all;
    for (std::size_t i = 0; i < names.size(); ++i) all.push_back({names[i], &processes[i]});
    return all;
  }
};

}  // namespace ratchet
