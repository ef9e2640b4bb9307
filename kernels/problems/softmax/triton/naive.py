"""Row softmax, the obvious way: one program per row, in small pieces, three passes."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    largest = -float("inf")
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < cols, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(values, axis=0))
    total = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < cols, other=-float("inf"))
        total += tl.sum(tl.exp(values - largest), axis=0)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < cols, other=-float("inf"))
        tl.store(y + row + at, tl.exp(values - largest) / total, mask=at < cols)


def run_kernel(x, y, rows, cols):
    softmax[(rows,)](x, y, cols, BLOCK=64, num_warps=1)
