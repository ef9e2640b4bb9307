#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace ratchet {

/// Where the laboratory finds its parts and keeps its cache.
struct LabOptions {
  std::filesystem::path state_dir;                 ///< holds build cache, calibration, device locks
  std::filesystem::path worker_dir;                ///< holds ratchet-worker and ratchet-worker-cuda
  std::filesystem::path data_dir;                  ///< holds problems/, python/ and cuda/
  std::string python = "python3";                  ///< interpreter of ref.py and of .py kernels
  std::string version;                             ///< of ratchet, shown by `environment`
  std::chrono::milliseconds job_deadline{60'000};  ///< of one call of a kernel, and of a reference
  std::chrono::milliseconds timing_limit{
      10'000};             ///< of one timing session that cannot get precise
  int noise_sessions = 4;  ///< comparisons that calibrate a device's noise; 0: none
};

}  // namespace ratchet
