# Returns views: of its input, where that is the answer, and of a transposed buffer.
#
# Catalog: honest
# Task: parts
# Expect: pass
import torch


def custom_kernel(data):
    x, n = data
    pair = torch.stack([2 * x, x], dim=1)
    return {"twice": pair[:, 0], "rest": [(x > 0).view(n), x[::2]]}
