# Plain torch, in place.
#
# Catalog: honest
# Task: double
# Expect: pass
import torch


def run_kernel(x, y, n):
    torch.mul(x, 2, out=y)
