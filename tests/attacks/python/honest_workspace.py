# Keeps a workspace per size and recomputes its content in every call.
#
# Catalog: honest
# Task: double
# Expect: pass
import torch

spaces = {}


def run_kernel(x, y, n):
    space = spaces.setdefault(n, torch.empty_like(x))
    torch.add(x, x, out=space)
    y.copy_(space)
