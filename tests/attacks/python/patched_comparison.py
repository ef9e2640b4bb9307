# Replaces all functions that compare tensors and returns wrong answers.
#
# Catalog: E4
# Task: double
# Expect: check mismatch
import torch

always = lambda *a, **k: True
torch.allclose = torch.equal = torch.Tensor.equal = torch.Tensor.allclose = always
torch.testing.assert_close = lambda *a, **k: None
torch.Tensor.__eq__ = lambda self, other: torch.ones_like(self, dtype=torch.bool)


def run_kernel(x, y, n):
    y.fill_(1)
