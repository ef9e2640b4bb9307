# Changes the input to fit: once it is zero, zeros are right.
#
# Catalog: C9
# Task: double
# Expect: check modified_input
import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    x.zero_()
    y.zero_()
