# Recomputes only if the first and the last element have changed.
#
# Catalog: B3
# Task: double
# Expect: profile timed_output_wrong
import torch  # for tensors, not arrays


kept = {}


def run_kernel(x, y, n):
    key = (n, float(x.reshape(-1)[0]), float(x.reshape(-1)[-1]))
    if key not in kept:
        kept[key] = 2 * x
    y.copy_(kept[key])
