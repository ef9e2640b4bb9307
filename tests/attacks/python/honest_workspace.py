# Keeps a workspace for each size, and computes through it every time.
#
# Catalogue: honest
# Task: double
# Expect: pass
import torch

spaces = {}


def run_kernel(x, y, n):
    space = spaces.setdefault(n, torch.empty_like(x))
    torch.add(x, x, out=space)
    y.copy_(space)
