# Returns NaN, which a naive comparison of errors does not reject.
#
# Catalog: D5
# Task: double
# Expect: check nan_in_output
import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    y.fill_(float("nan"))
