#include "kernels/lab/neighbors.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// A GPU's driver program that lists a process of ours and, once `came` exists, a stranger's.
struct Listed {
  Listed(pid_t own, const TempFolder& folder) : came(folder.path() / "came") {
    const auto program = folder.path() / "nvidia-smi";
    REQUIRE(write_file(program, fmt::format("#!/bin/sh\necho 'GPU-a, {}, worker'\n"
                                            "if [ -e {} ]; then echo 'GPU-a, 1, train'; fi\n",
                                            own, came.string())));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  }
  ~Listed() { ::setenv("PATH", path.c_str(), 1); }

  std::string path = std::getenv("PATH");
  std::filesystem::path came;
};

bool flagged(const Neighbors& neighbors) {
  Timing timing;
  Comparison comparison;
  comparison.verdict = Verdict::faster;
  neighbors.note(timing);
  neighbors.note(comparison);
  CHECK(timing.conditions == neighbors.text());
  CHECK(comparison.verdict == Verdict::faster);
  CHECK(has_flag(comparison, kDeviceShared) == neighbors.any());
  return std::ranges::count(timing.flags, kDeviceShared) == 1;
}

}  // namespace

TEST_CASE(
    "a stranger who comes while something is timed is a neighbor; a kept process of ours is not",
    "[contention]") {
  const TempFolder folder;
  const pid_t kept = ::fork();
  if (kept == 0) {
    ::pause();
    ::_exit(0);
  }
  const Listed listed(kept, folder);
  DeviceInfo gpu;
  gpu.kind = DeviceKind::cuda;
  gpu.uuid = "GPU-a";
  const CallContext call;

  Neighbors neighbors(gpu, call);
  CHECK_FALSE(flagged(neighbors));
  CHECK(neighbors.text() == "other processes: none (nvidia-smi)");
  REQUIRE(write_file(listed.came, ""));
  neighbors.look_again();
  neighbors.look_again();

  CHECK(flagged(neighbors));
  CHECK(neighbors.text() == "other processes: pid 1 train (nvidia-smi)");
  ::kill(kept, SIGKILL);
  ::waitpid(kept, nullptr, 0);
}
