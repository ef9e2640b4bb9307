# Returns its input.
#
# Catalog: B11 C4
# Task: double
# Expect: check mismatch
import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    return x
