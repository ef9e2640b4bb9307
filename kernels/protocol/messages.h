#pragma once

// Messages between the server and a worker process: JSON encoded by these field lists over a
// private socket. Bulk data travels alongside as sealed memory files.
//
// A worker plays one role for its whole life:
//   judge      generates inputs, runs C++/CUDA references, compares; knows expected values
//   candidate  runs one untrusted kernel; knows neither seeds nor expected values
//
// All buffers of one case lie in one *arena*: a block with a guard band before and after every
// buffer. The judge fills it (inputs, poison in the outputs, random guards). The candidate copies
// it in, calls the kernel once and copies all of it back. The judge then checks guards, inputs and
// outputs in the raw bytes. The candidate's process therefore never holds anything worth stealing.

#include "kernels/protocol/arena.h"
#include "kernels/protocol/replies.h"
#include "kernels/protocol/requests.h"
