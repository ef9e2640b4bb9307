# Doubles the input in place and returns views of it.
#
# Catalog: H7
# Task: parts
# Expect: check modified_input
import torch


def custom_kernel(data):
    x, n = data
    positive, even = x > 0, x[::2].clone()
    return {"twice": torch.mul(x, 2, out=x).view(n), "rest": (positive, even)}
