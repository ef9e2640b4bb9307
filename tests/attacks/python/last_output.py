# Returns the answer of the previous call.
#
# Catalog: A5 B6 B12
# Task: double
# Expect: check mismatch|output_not_written
import torch  # for tensors, not arrays


last = {}


def run_kernel(x, y, n):
    before = last.get(n)
    last[n] = (2 * x).clone()
    if before is not None:
        y.copy_(before)
