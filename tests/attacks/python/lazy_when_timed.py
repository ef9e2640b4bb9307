# Honest as often as it is checked, idle afterwards. On a processor with much cache to flush, so many
# calls are not timed.
#
# Catalogue: A12
# Task: double
# Device: cuda
# Expect: profile unsynchronised_work|timed_output_wrong
import torch  # for tensors, not arrays


calls = 0


def run_kernel(x, y, n):
    global calls
    calls += 1
    if calls < 40:
        y.copy_(2 * x)
