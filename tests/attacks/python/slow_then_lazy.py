# Honest as often as it is checked, idle afterwards.
#
# Catalogue: A12
# Task: double
# Expect: profile unsynchronised_work|timed_output_wrong
import torch  # for tensors, not arrays


calls = 0


def run_kernel(x, y, n):
    global calls
    calls += 1
    if calls < 40:
        y.copy_(2 * x)
