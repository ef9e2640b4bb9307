# Computes once per shape and then returns the same answer.
#
# Catalog: B2 B4
# Task: double
# Expect: check mismatch
import torch  # for tensors, not arrays


kept = {}


def run_kernel(x, y, n):
    if x.shape not in kept:
        kept[x.shape] = 2 * x
    y.copy_(kept[x.shape])
