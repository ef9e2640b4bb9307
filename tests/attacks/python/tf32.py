# Enables TF32 for its product.
#
# Catalog: D1
# Task: matmul
# Device: cuda
# Expect: check mismatch
import torch

torch.backends.cuda.matmul.allow_tf32 = True


def run_kernel(a, b, c, m, n, k):
    torch.matmul(a, b, out=c)
