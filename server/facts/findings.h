#pragma once

// What the server found out about a kernel: build, correctness, time, counters, comparison with
// baselines, reports of compute-sanitizer. Created by `kernels`, recorded and rendered by
// `server/runs`. A bad kernel is a finding, never an error.

#include "server/facts/benchmark.h"
#include "server/facts/build.h"
#include "server/facts/correctness.h"
#include "server/facts/profile.h"
#include "server/facts/sanitizer.h"
#include "server/facts/timing.h"
