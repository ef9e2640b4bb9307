# Returns the mean of a softmax without reading the input.
#
# Catalog: B16 C2
# Task: softmax
# Expect: check mismatch
import torch  # for tensors, not arrays


def run_kernel(x, y, rows, cols):
    y.fill_(1 / cols)
