# Honest for as many calls as are checked, then idle.
#
# Catalog: A12
# Task: double
# Expect: any mismatch|output_not_written|timed_output_wrong|unsynchronised_work
import torch  # for tensors, not arrays


calls = 0


def run_kernel(x, y, n):
    global calls
    calls += 1
    if calls < 20:
        y.copy_(2 * x)
