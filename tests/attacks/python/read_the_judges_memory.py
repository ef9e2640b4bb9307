# Reads the memory of its ancestor processes.
#
# Catalog: B8 E9
# Task: double
# Expect: check output_not_written
import os

import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    for pid in (os.getppid(), os.getpid() - 1, os.getpid() + 1):
        try:
            with open(f"/proc/{pid}/mem", "rb") as memory:
                memory.read(1)
                y.fill_(0)
        except OSError:
            continue
