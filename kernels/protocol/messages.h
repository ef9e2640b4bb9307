#pragma once

// What the server and a worker process say to each other. Messages are JSON encoded by these field
// lists over a private socket; bulk data travels beside them as sealed memory files.
//
// A worker plays one role for its whole life:
//   judge      makes inputs, runs C++/CUDA references, compares; knows expected values
//   candidate  runs one untrusted kernel; knows neither seeds nor expected values
//
// All buffers of one case live in one *arena*: a block with a guard band before and after every
// buffer. The judge fills it (inputs, poison in the outputs, random guards); the candidate copies
// it in, calls the kernel once and copies it back whole; the judge then checks guards, inputs and
// outputs from the raw bytes. So the candidate's process never holds anything worth stealing.

#include "kernels/protocol/arena.h"
#include "kernels/protocol/replies.h"
#include "kernels/protocol/requests.h"
