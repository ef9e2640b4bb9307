# Draws numbers of its own, which change nothing of the answer.
#
# Catalog: honest
# Task: parts
# Expect: pass
import torch

torch.manual_seed(7)


def custom_kernel(data):
    x, n = data
    torch.manual_seed(n)
    order = torch.randperm(n, device=x.device)
    twice = torch.empty_like(x)
    twice[order] = 2 * x[order]
    return {"twice": twice, "rest": (x > 0, x[::2])}
