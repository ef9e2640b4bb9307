"""Row softmax in two passes: maximum and sum together, each thread with its own until the end."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    # A finite start: the difference of two infinities is NaN.
    largest = tl.full([BLOCK], -3.0e38, tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < cols, other=-float("inf"))
        now = tl.maximum(largest, values)
        total = total * tl.exp(largest - now) + tl.exp(values - now)
        largest = now
    top = tl.max(largest, axis=0)
    scale = 1.0 / tl.sum(total * tl.exp(largest - top), axis=0)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < cols, other=-float("inf"))
        tl.store(y + row + at, tl.exp(values - top) * scale, mask=at < cols)


def run_kernel(x, y, rows, cols):
    softmax[(rows,)](x, y, cols, BLOCK=1024, num_warps=4)
