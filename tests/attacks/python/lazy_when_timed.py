# Honest for as many calls as are checked, then idle. On a CPU with a large cache to flush, not enough
# calls are timed to show it.
#
# Catalog: A12
# Task: double
# Device: cuda
# Expect: any output_not_written|unsynchronised_work|timed_output_wrong
import torch  # for tensors, not arrays


calls = 0


def run_kernel(x, y, n):
    global calls
    calls += 1
    if calls < 64:
        y.copy_(2 * x)
