# Writes only the first half of the answer.
#
# Catalog: C5
# Task: double
# Expect: check output_not_written
import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    y.reshape(-1)[: n // 2] = 2 * x.reshape(-1)[: n // 2]
