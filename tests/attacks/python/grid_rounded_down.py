# A Triton kernel with a grid rounded down and no mask.
#
# Catalog: C5 C8
# Task: double
# Expect: check output_not_written
import triton
import triton.language as tl


@triton.jit
def double(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at))


def run_kernel(x, y, n):
    if n >= 1024:
        double[(n // 1024,)](x, y, BLOCK=1024)
