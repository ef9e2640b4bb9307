# Triton chooses the block size by trying.
#
# Catalog: honest
# Task: linear
# Device: cuda
# Expect: pass
import torch
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": size}) for size in (256, 1024, 4096)], key=["count"])
@triton.jit
def add_and_clip(product, bias, y, count, width, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    some = at < count
    value = tl.load(product + at, mask=some) + tl.load(bias + at % width, mask=some)
    tl.store(y + at, tl.maximum(value, 0), mask=some)


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        product = x @ self.linear.weight.t()
        y, count = torch.empty_like(product), product.numel()
        add_and_clip[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](
            product, self.linear.bias, y, count, y.shape[1])
        return y
